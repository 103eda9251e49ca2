package fsweep.rig;

import static fsweep.rig.Namespace.path;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.AddErasureCodingPolicyResponse;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.io.erasurecode.ECSchema;

final class Hadoop3Features implements Hadoop3 {
  private static final String XOR = "XOR-2-1-1024k";
  private static final String RS = "RS-3-2-1024k";
  private static final int CELL = 1 << 20;

  /** Cells of 4 KiB: small files have several stripes. */
  private static final int OWN_CELL = 4096;

  private String own;

  @Override
  public void enableErasureCoding(Namespace ns) throws IOException {
    ErasureCodingPolicy policy = new ErasureCodingPolicy(new ECSchema("xor", 2, 1), OWN_CELL);
    AddErasureCodingPolicyResponse[] added =
        ns.fs.addErasureCodingPolicies(new ErasureCodingPolicy[] {policy});
    if (!added[0].isSucceed() || added[0].getPolicy().getId() < 64) {
      throw new IOException("policy not added: " + added[0]);
    }
    own = added[0].getPolicy().getName();
    for (String p : policies()) {
      ns.fs.enableErasureCodingPolicy(p);
    }
  }

  @Override
  public List<String> policies() {
    return Arrays.asList(XOR, RS, own);
  }

  @Override
  public void makeErasureCoded(Namespace ns) throws IOException {
    ns.mkdirs("/ec/rs32/sub", "/ec/rs32/replicated", "/ec/rs32/cleared", "/ec/xor21", "/ec/own");
    ns.mkdirs("/ec/disabled");
    setErasureCodingPolicy(ns, "/ec/xor21", XOR);
    setErasureCodingPolicy(ns, "/ec/rs32", RS);
    setErasureCodingPolicy(ns, "/ec/own", own);
    setErasureCodingPolicy(ns, "/ec/rs32/replicated", "replication");
    setErasureCodingPolicy(ns, "/ec/rs32/cleared", XOR);
    ns.fs.unsetErasureCodingPolicy(path("/ec/rs32/cleared"));
    ns.fs.enableErasureCodingPolicy("RS-6-3-1024k");
    setErasureCodingPolicy(ns, "/ec/disabled", "RS-6-3-1024k");
    ns.fs.disableErasureCodingPolicy("RS-6-3-1024k");

    for (int n : new int[] {0, 1, 100, CELL, CELL + 1, 3 * CELL + 7, 7 * CELL + 123}) {
      write(ns, "/ec/xor21/f" + n, n);
      write(ns, "/ec/rs32/f" + n, n);
    }
    for (int n : new int[] {1, OWN_CELL, 2 * OWN_CELL + 1, 9 * OWN_CELL + 5}) {
      write(ns, "/ec/own/f" + n, n);
    }
    write(ns, "/ec/rs32/sub/f5000", 5000);
    write(ns, "/ec/rs32/replicated/f", 5000);
    ns.fs.createSymlink(path("/ec/rs32/f1"), path("/ec/rs32/link"), true);
    ns.write("/ec/rs32/replicated-file", 3000, 2);
    try (OutputStream out = createStriped(ns, "/ec/xor-elsewhere", XOR)) {
      out.write(new byte[5 * CELL / 2]);
    }
    ns.leaveOpen(createStriped(ns, "/ec/rs32/open", RS), 3 * CELL + 50, false);
    ns.leaveOpen(createStriped(ns, "/ec/rs32/open-empty", RS), 0, false);

    // A striped file honours only some of the storage policies.
    ns.mkdirs("/ec/own/warm", "/ec/own/cold");
    write(ns, "/ec/own/warm/f", 20_000);
    write(ns, "/ec/own/cold/f", 20_000);
    ns.fs.setStoragePolicy(path("/ec/own/warm"), "WARM");
    ns.fs.setStoragePolicy(path("/ec/own/cold"), "COLD");
    ns.fs.setQuota(path("/ec/rs32"), 1000, 1L << 40);
    ns.fs.setQuotaByStorageType(path("/ec/own/cold"), StorageType.ARCHIVE, 1L << 30);
  }

  private static void write(Namespace ns, String p, int bytes) throws IOException {
    try (OutputStream out = ns.fs.create(path(p))) {
      out.write(new byte[bytes]);
    }
  }

  @Override
  public void setErasureCodingPolicy(Namespace ns, String p, String policy) throws IOException {
    ns.fs.setErasureCodingPolicy(path(p), policy);
  }

  @Override
  public FSDataOutputStream createStriped(Namespace ns, String p, String policy)
      throws IOException {
    return ns.fs
        .createFile(path(p))
        .overwrite(true)
        .blockSize(CELL)
        .ecPolicyName(policy)
        .build();
  }

  @Override
  public FSDataOutputStream createStriped(DistributedFileSystem fs, String p, String policy)
      throws IOException {
    fs.enableErasureCodingPolicy(policy);
    return fs.createFile(path(p)).overwrite(true).ecPolicyName(policy).build();
  }

  @Override
  public FSDataOutputStream createReplicated(Namespace ns, String p, int replication)
      throws IOException {
    return ns.fs
        .createFile(path(p))
        .overwrite(true)
        .blockSize(Namespace.BLOCK)
        .replicate()
        .replication((short) replication)
        .build();
  }

  @Override
  public String erasureCodingPolicy(HdfsFileStatus s) {
    ErasureCodingPolicy p = s.getErasureCodingPolicy();
    return p == null ? null : p.getName();
  }

  @Override
  public boolean isStriped(HdfsFileStatus s) {
    return !s.isDir() && s.getErasureCodingPolicy() != null;
  }

  @Override
  public boolean isEncrypted(HdfsFileStatus s) {
    return ((FileStatus) s).isEncrypted();
  }

  @Override
  public void snapshotCounts(Json json, ContentSummary c) {
    json.put("snapLength", c.getSnapshotLength())
        .put("snapFiles", c.getSnapshotFileCount())
        .put("snapDirs", c.getSnapshotDirectoryCount())
        .put("snapSpace", c.getSnapshotSpaceConsumed())
        .put("ecPolicy", c.getErasureCodingPolicy());
  }

  @Override
  public String quotaUsage(Namespace ns, String p) throws IOException {
    QuotaUsage q = ns.client.getNamenode().getQuotaUsage(p);
    Json types = new Json();
    for (StorageType t : StorageType.getTypesSupportingQuota()) {
      types.raw(t.toString(), "[" + q.getTypeQuota(t) + "," + q.getTypeConsumed(t) + "]");
    }
    return new Json()
        .put("fileAndDirCount", q.getFileAndDirectoryCount())
        .put("spaceConsumed", q.getSpaceConsumed())
        .put("nsQuota", q.getQuota())
        .put("dsQuota", q.getSpaceQuota())
        .raw("types", types.toString())
        .toString();
  }
}
