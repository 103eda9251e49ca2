package fsweep.rig;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;

/** What only Hadoop 3 has. The implementation is compiled for Hadoop 3 alone. */
interface Hadoop3 {
  /** The implementation, or null on Hadoop 2. */
  static Hadoop3 load(String version) throws ReflectiveOperationException {
    if (version.startsWith("2.")) {
      return null;
    }
    return (Hadoop3)
        Class.forName("fsweep.rig.Hadoop3Features").getDeclaredConstructor().newInstance();
  }

  /** Adds a policy of our own, whose id is 64, and enables all that the other methods use. */
  void enableErasureCoding(Namespace ns) throws IOException;

  /** Names of the enabled policies; the last one is our own. */
  List<String> policies();

  /** Directories and files under /ec. */
  void makeErasureCoded(Namespace ns) throws IOException;

  void setErasureCodingPolicy(Namespace ns, String path, String policy) throws IOException;

  /** A file with a policy, whatever its directory's is. */
  FSDataOutputStream createStriped(Namespace ns, String path, String policy) throws IOException;

  /** A file of small blocks without a policy, whatever its directory's is. */
  FSDataOutputStream createReplicated(Namespace ns, String path, int replication)
      throws IOException;

  /** The same in a rig that serves: of a policy that it enables, with the default block size. */
  FSDataOutputStream createStriped(DistributedFileSystem fs, String path, String policy)
      throws IOException;

  String erasureCodingPolicy(HdfsFileStatus s);

  boolean isStriped(HdfsFileStatus s);

  boolean isEncrypted(HdfsFileStatus s);

  void snapshotCounts(Json json, ContentSummary c);

  String quotaUsage(Namespace ns, String path) throws IOException;
}
