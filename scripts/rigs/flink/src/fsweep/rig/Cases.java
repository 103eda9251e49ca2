package fsweep.rig;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.flink.runtime.execution.ExecutionState;

/** What the jobs are made to do. */
final class Cases {
  private Cases() {}

  static List<Case> all(String version) {
    List<Case> all = new ArrayList<>();
    BiConsumer<String, Case.Script> add = (name, script) -> all.add(new Case(name, false, script));
    add.accept("full", Cases::full);
    add.accept("incremental", Cases::incremental);
    add.accept("changelog", Cases::changelog);
    add.accept("savepoints", Cases::savepoints);
    add.accept("merged", Cases::merged);
    add.accept("unaligned", Cases::unaligned);
    add.accept("unaligned-merged", Cases::unalignedMerged);
    add.accept("finished", Cases::finished);
    if (version.startsWith("2.")) {
      add.accept("forst", Cases::forst);
    }
    all.add(new Case("changelog-memory", true, Cases::changelogMemory));
    return all;
  }

  private static void full(Case c) throws Exception {
    c.set("state.backend.type", c.random.nextBoolean() ? "hashmap" : "rocksdb");
    c.set("execution.checkpointing.incremental", "false");
    c.inlineBelow(c.random.nextInt(3) * 500); // some of both
    c.start();
    c.checkpoints(3);
    c.cancel();
  }

  private static void incremental(Case c) throws Exception {
    c.set("execution.checkpointing.incremental", "true");
    // Timers outside RocksDB become raw keyed state.
    c.set("state.backend.rocksdb.timer-service.factory", "HEAP");
    c.start();
    c.checkpoints(2);
    c.cancel();
    for (String mode : new String[] {"CLAIM", "NO_CLAIM", "LEGACY"}) {
      c.start(mode);
      c.checkpoints(2);
      c.cancel();
    }
  }

  private static void changelog(Case c) throws Exception {
    c.set("execution.checkpointing.incremental", "true");
    c.set("state.changelog.enabled", "true");
    c.set("state.changelog.periodic-materialize.interval", "300ms");
    c.start();
    c.checkpoints(1);
    c.checkpointsUntil(classes -> classes.contains("IncrementalRemoteKeyedStateHandle"));
    c.cancel();
    c.start("CLAIM");
    c.checkpoints(2);
    c.cancel();
  }

  private static void changelogMemory(Case c) throws Exception {
    c.set("execution.checkpointing.incremental", "true");
    c.set("state.changelog.enabled", "true");
    c.start();
    c.checkpoints(2);
    c.cancel();
  }

  private static void savepoints(Case c) throws Exception {
    c.set("execution.checkpointing.incremental", "true");
    c.start();
    String canonical = c.savepoint(false);
    c.checkpoints(1);
    c.savepoint(true);
    c.cancel();
    c.start("CLAIM"); // Its checkpoints name the savepoint's files without their directory.
    c.checkpoints(2);
    c.cancel();
    c.start("NO_CLAIM", canonical);
    c.checkpoints(1);
    c.stopWithSavepoint(c.random.nextBoolean());
  }

  private static void merge(Case c) {
    c.set("execution.checkpointing.incremental", "true");
    c.set("execution.checkpointing.file-merging.enabled", "true");
    c.set(
        "execution.checkpointing.file-merging.across-checkpoint-boundary",
        "" + c.random.nextBoolean());
    c.job.parallelism = 2;
  }

  private static void merged(Case c) throws Exception {
    merge(c);
    c.start();
    c.checkpoints(3);
    c.cancel();
    c.start("CLAIM");
    c.checkpoints(2);
    c.cancel();
  }

  private static void unaligned(Case c) throws Exception {
    c.set("execution.checkpointing.unaligned.enabled", "true");
    c.set("execution.checkpointing.aligned-checkpoint-timeout", "0ms");
    c.job.parallelism = 2;
    c.job.fast = true;
    c.job.slow = true;
    c.start();
    c.checkpointsUntil(
        classes ->
            classes.stream().anyMatch(s -> s.endsWith("InputChannelStateHandle"))
                && classes.stream().anyMatch(s -> s.endsWith("ResultSubpartitionStateHandle")));
    c.cancel();
  }

  private static void unalignedMerged(Case c) throws Exception {
    merge(c);
    unaligned(c);
  }

  private static void finished(Case c) throws Exception {
    c.set("execution.checkpointing.checkpoints-after-tasks-finish", "true");
    c.set("execution.checkpointing.checkpoints-after-tasks-finish.enabled", "true"); // up to 1.20
    c.job.parallelism = 2;
    c.job.finishing = true;
    c.start();
    // Tasks end with a checkpoint that is theirs; only the next one has them finished.
    c.checkpointsUntil(
        classes ->
            classes.contains("FullyFinishedOperatorState")
                && classes.contains("FinishedOperatorSubtaskState"));
    c.await(tasks -> tasks.contains(ExecutionState.FINISHED));
    c.cancel();
  }

  private static void forst(Case c) throws Exception {
    c.set("state.backend.type", "forst");
    c.set("execution.checkpointing.incremental", "true");
    c.job.async = true;
    c.start();
    c.checkpoints(2);
    c.cancel();
    c.start("CLAIM");
    c.checkpoints(2);
    c.cancel();
  }
}
