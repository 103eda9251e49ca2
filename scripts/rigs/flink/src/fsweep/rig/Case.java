package fsweep.rig;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.execution.ExecutionState;

/** One job and its successors, with what is asked of them. */
final class Case {
  interface Script {
    void run(Case c) throws Exception;
  }

  private static final int TRIES = 40;

  final String name;

  /** Whether a changelog becomes part of _metadata, which is a matter of the whole cluster. */
  final boolean memoryChangelog;

  private final Script script;

  // Of the run.
  final Configuration conf = new Configuration();
  Job job;
  Random random;
  private Cluster cluster;
  private Path dir;
  private Path storage;
  private JobID id;
  private int starts;
  private int completed;
  private String last;

  Case(String name, boolean memoryChangelog, Script script) {
    this.name = name;
    this.memoryChangelog = memoryChangelog;
    this.script = script;
  }

  void run(Cluster cluster, Path dir, Random random) throws Exception {
    this.cluster = cluster;
    this.dir = dir;
    this.random = random;
    storage = dir.resolve(Names.file(random));
    Files.createDirectories(storage);
    job = new Job(name, random);
    set("execution.checkpointing.interval", "1h"); // none but those asked for
    set("execution.checkpointing.timeout", Cluster.TIMEOUT + "s");
    set("execution.checkpointing.storage", "filesystem");
    set("execution.checkpointing.dir", uri(storage.resolve("checkpoints")));
    set("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    set("restart-strategy.type", "none");
    set("state.backend.type", "rocksdb");
    set("state.backend.rocksdb.memory.managed", "false");
    // Files that stay what they are from one checkpoint to the next.
    set("state.backend.rocksdb.compaction.style", "NONE");
    inlineBelow(0);
    try {
      script.run(this);
    } catch (Exception e) {
      throw new Exception("case " + name + ", run " + starts, e);
    }
  }

  void set(String key, String value) {
    conf.setString(key, value);
  }

  /** States of fewer bytes than this become part of _metadata. */
  void inlineBelow(int bytes) {
    set("execution.checkpointing.data-inline-threshold", bytes + "b");
    set("state.storage.fs.memory-threshold", bytes + "b"); // its name up to 1.20
  }

  void start() throws Exception {
    start(null, null);
  }

  /** The next run, restored from the last checkpoint or savepoint. */
  void start(String mode) throws Exception {
    start(mode, last);
  }

  void start(String mode, String from) throws Exception {
    starts++;
    completed = 0;
    Configuration c = new Configuration(conf);
    if (mode != null) {
      c.setString("execution.state-recovery.claim-mode", mode);
      c.setString("execution.state-recovery.path", from);
    }
    id = cluster.start(job.graph(c));
    process(100);
  }

  /** Waits until the job has taken in so many more records. */
  void process(int records) throws Exception {
    long want = job.processed().get() + records;
    for (long end = Cluster.deadline(); job.processed().get() < want; ) {
      Cluster.pause(end, "records");
    }
  }

  void checkpoints(int n) throws Exception {
    for (int i = 0; i < n; i++) {
      process(50 + random.nextInt(100));
      last = cluster.checkpoint(id);
      completed++;
    }
  }

  /** Makes checkpoints until one has the classes that are wanted. */
  void checkpointsUntil(Predicate<Set<String>> wanted) throws Exception {
    Set<String> classes = Set.of();
    for (int i = 0; i < TRIES; i++) {
      try {
        checkpoints(1);
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof CheckpointException)) {
          throw e;
        }
        continue; // Tasks decline while they come to their end.
      }
      classes = classes(last);
      if (wanted.test(classes)) {
        return;
      }
    }
    throw new Exception(TRIES + " checkpoints, and the last has only " + classes);
  }

  @SuppressWarnings("unchecked")
  private static Set<String> classes(String checkpoint) throws Exception {
    Path dir = Paths.get(new org.apache.flink.core.fs.Path(checkpoint).getPath());
    return ((Map<String, Integer>) Truth.of(dir.resolve("_metadata")).get("classes")).keySet();
  }

  void await(Predicate<List<ExecutionState>> tasks) throws Exception {
    cluster.await(id, tasks);
  }

  String savepoint(boolean nativeFormat) throws Exception {
    last = cluster.savepoint(id, uri(storage.resolve("savepoints")), nativeFormat, false);
    return last;
  }

  void stopWithSavepoint(boolean nativeFormat) throws Exception {
    pointers();
    last = cluster.savepoint(id, uri(storage.resolve("savepoints")), nativeFormat, true);
    cluster.awaitEnd(id);
  }

  void cancel() throws Exception {
    pointers();
    cluster.cancel(id);
  }

  private void pointers() throws Exception {
    cluster.copyPointers(dir.resolve("ha-" + starts), completed);
  }

  /** The path as users write it in Flink's configuration: nothing is escaped. */
  static String uri(Path p) {
    return "file://" + p;
  }
}
