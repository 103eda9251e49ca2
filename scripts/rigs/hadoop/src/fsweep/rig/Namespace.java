package fsweep.rig;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.namenode.NameNode;

/** A running cluster and the short words that make things in it. */
final class Namespace {
  /** Small, so that small files have several blocks. */
  static final int BLOCK = 1024;

  final MiniDFSCluster cluster;
  final DistributedFileSystem fs;
  final DFSClient client;
  final NameNode nameNode;
  final Hadoop3 hadoop3;

  /** Streams that are never closed: their files are saved under construction. */
  final List<Closeable> open = new ArrayList<>();

  Namespace(MiniDFSCluster cluster, Hadoop3 hadoop3) throws IOException {
    this.cluster = cluster;
    this.fs = cluster.getFileSystem();
    this.client = fs.getClient();
    this.nameNode = cluster.getNameNode();
    this.hadoop3 = hadoop3;
  }

  static Path path(String s) {
    return new Path(s);
  }

  void mkdirs(String... paths) throws IOException {
    for (String p : paths) {
      fs.mkdirs(path(p));
    }
  }

  void write(String p, int bytes) throws IOException {
    write(p, bytes, 1);
  }

  void write(String p, int bytes, int replication) throws IOException {
    try (OutputStream out = create(p, replication)) {
      out.write(new byte[bytes]);
    }
  }

  /**
   * Replicated wherever it is: striped, with blocks smaller than a cell, a client can wait for ever
   * when it closes the file.
   */
  FSDataOutputStream create(String p, int replication) throws IOException {
    if (hadoop3 != null) {
      return hadoop3.createReplicated(this, p, replication);
    }
    return fs.create(path(p), true, 512, (short) replication, BLOCK);
  }

  void append(String p, int bytes) throws IOException {
    try (OutputStream out = fs.append(path(p))) {
      out.write(new byte[bytes]);
    }
  }

  /** Leaves a file open after some bytes, which have reached the DataNodes or not. */
  void leaveOpen(FSDataOutputStream out, int bytes, boolean flush) throws IOException {
    open.add(out);
    out.write(new byte[bytes]);
    if (flush) {
      out.hflush();
    }
  }

  static List<AclEntry> acl(String spec) {
    return AclEntry.parseAclSpec(spec, true);
  }

  /** Truncation into a block ends only when the DataNodes have cut their replicas. */
  void waitUntilClosed(String p) throws IOException, InterruptedException {
    for (int i = 0; !fs.isFileClosed(path(p)); i++) {
      if (i == 200) {
        throw new IOException(p + " is still open");
      }
      Thread.sleep(50);
    }
  }

  interface Step {
    void run() throws Exception;
  }

  /** Runs a step and says how long it took. A step that fails ends the rig. */
  static void step(String name, Step s) throws Exception {
    long start = System.nanoTime();
    try {
      s.run();
    } catch (Exception | Error e) {
      throw new Exception("step " + name, e);
    }
    System.err.printf("rig: %s %.1fs%n", name, (System.nanoTime() - start) / 1e9);
  }
}
