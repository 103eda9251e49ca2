package fsweep.rig;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServer;

/** A Flink cluster in this JVM, highly available so that it writes completedCheckpoint files. */
final class Cluster implements AutoCloseable {
  /** More than any case makes, so that every checkpoint is there when its job has ended. */
  private static final int RETAINED = 50;

  /** Seconds. Far more than anything takes, for machines that are busy with other things. */
  static final long TIMEOUT = 240;

  private final NIOServerCnxnFactory zooKeeper = new NIOServerCnxnFactory();
  private final MiniCluster flink;
  private final Path ha;

  Cluster(Path out, Path work, boolean memoryChangelog) throws Exception {
    Path own = Files.createTempDirectory(work, "cluster");
    ha = own.resolve("ha");
    zooKeeper.configure(new InetSocketAddress("127.0.0.1", 0), 100);
    zooKeeper.startup(
        new ZooKeeperServer(own.resolve("zk").toFile(), own.resolve("zk").toFile(), 30_000));

    Configuration c = new Configuration();
    c.setString("rest.bind-address", "127.0.0.1");
    c.setString("rest.address", "127.0.0.1");
    c.setString("rest.port", "0");
    c.setString("rest.bind-port", "0");
    c.setString("jobmanager.bind-host", "127.0.0.1");
    c.setString("taskmanager.bind-host", "127.0.0.1");
    c.setString("high-availability.type", "zookeeper");
    c.setString("high-availability.zookeeper.quorum", "127.0.0.1:" + zooKeeper.getLocalPort());
    c.setString("high-availability.storageDir", ha.toUri().toString());
    c.setString("execution.checkpointing.num-retained", "" + RETAINED);
    c.setString("state.checkpoints.num-retained", "" + RETAINED);
    for (String key :
        new String[] {
          "high-availability.zookeeper.client.session-timeout",
          "high-availability.zookeeper.client.connection-timeout",
          "heartbeat.timeout",
          "pekko.ask.timeout",
        }) {
      c.setString(key, TIMEOUT + "s");
    }
    // Few and small buffers, so that a slow task holds up its senders soon.
    c.setString("taskmanager.network.memory.buffers-per-channel", "1");
    c.setString("taskmanager.network.memory.floating-buffers-per-gate", "2");
    c.setString("taskmanager.network.memory.max-buffers-per-channel", "2");
    c.setString("taskmanager.memory.segment-size", "4kb");
    c.setString("taskmanager.memory.network.min", "16mb");
    c.setString("taskmanager.memory.network.max", "16mb");
    c.setString("taskmanager.memory.managed.size", "64mb");
    c.setString("io.tmp.dirs", own.resolve("tmp").toString());
    // Where a changelog goes is no matter of the job.
    c.setString("state.changelog.storage", memoryChangelog ? "memory" : "filesystem");
    c.setString("dstl.dfs.base-path", Case.uri(out.resolve("changelog/dstl ünïcode %41")));
    flink =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(c)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(4)
                .build());
    try {
      flink.start();
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  /** Starts the job and returns when all its tasks run. */
  JobID start(JobGraph graph) throws Exception {
    JobID id = graph.getJobID();
    flink.submitJob(graph).get(TIMEOUT, TimeUnit.SECONDS);
    await(id, tasks -> tasks.stream().allMatch(Cluster::started));
    return id;
  }

  private static boolean started(ExecutionState s) {
    return s == ExecutionState.RUNNING || s == ExecutionState.FINISHED;
  }

  /** Waits until the states of the job's tasks are as wanted. */
  void await(JobID id, Predicate<List<ExecutionState>> wanted) throws Exception {
    for (long end = deadline(); ; pause(end, "the tasks of " + id)) {
      JobStatus status = flink.getJobStatus(id).get(TIMEOUT, TimeUnit.SECONDS);
      if (status.isTerminalState()) {
        throw new IOException("job is " + status, failure(id));
      }
      if (status == JobStatus.RUNNING && wanted.test(tasks(id))) {
        return;
      }
    }
  }

  private List<ExecutionState> tasks(JobID id) throws Exception {
    List<ExecutionState> states = new ArrayList<>();
    for (AccessExecutionVertex v :
        flink.getExecutionGraph(id).get(TIMEOUT, TimeUnit.SECONDS).getAllExecutionVertices()) {
      states.add(v.getExecutionState());
    }
    return states;
  }

  private Throwable failure(JobID id) throws Exception {
    return flink
        .requestJobResult(id)
        .get(TIMEOUT, TimeUnit.SECONDS)
        .getSerializedThrowable()
        .map(t -> t.deserializeError(Cluster.class.getClassLoader()))
        .orElse(null);
  }

  String checkpoint(JobID id) throws Exception {
    return flink.triggerCheckpoint(id).get(TIMEOUT, TimeUnit.SECONDS);
  }

  String savepoint(JobID id, String dir, boolean nativeFormat, boolean stop) throws Exception {
    SavepointFormatType format =
        nativeFormat ? SavepointFormatType.NATIVE : SavepointFormatType.CANONICAL;
    return (stop
            ? flink.stopWithSavepoint(id, dir, false, format)
            : flink.triggerSavepoint(id, dir, false, format))
        .get(TIMEOUT, TimeUnit.SECONDS);
  }

  void cancel(JobID id) throws Exception {
    flink.cancelJob(id).get(TIMEOUT, TimeUnit.SECONDS);
    awaitEnd(id);
  }

  void awaitEnd(JobID id) throws Exception {
    flink.requestJobResult(id).get(TIMEOUT, TimeUnit.SECONDS);
  }

  /** Copies what this cluster would recover from; at least so many checkpoints of the only job. */
  void copyPointers(Path to, int atLeast) throws Exception {
    List<Path> files;
    for (long end = deadline(); (files = pointers()).size() < atLeast; ) {
      pause(end, atLeast + " completedCheckpoint files");
    }
    Files.createDirectories(to);
    for (Path f : files) {
      Files.copy(f, to.resolve(f.getFileName()));
    }
  }

  private List<Path> pointers() throws IOException {
    try (Stream<Path> all = Files.walk(ha)) {
      return all.filter(Truth::isPointer).collect(Collectors.toList());
    }
  }

  static long deadline() {
    return System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT);
  }

  static void pause(long end, String what) throws Exception {
    if (System.nanoTime() > end) {
      throw new IOException("waited too long for " + what);
    }
    Thread.sleep(10);
  }

  @Override
  public void close() throws Exception {
    try {
      flink.close();
    } finally {
      zooKeeper.shutdown();
    }
  }
}
