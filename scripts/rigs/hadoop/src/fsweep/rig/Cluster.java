package fsweep.rig;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.key.KeyProvider;
import org.apache.hadoop.crypto.key.KeyProviderFactory;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.StartupOption;
import org.apache.hadoop.hdfs.server.namenode.EditLogFileOutputStream;

/** Starts NameNodes. All servers listen on 127.0.0.1, on ports that the system chooses. */
final class Cluster {
  private Cluster() {}

  /** An empty cluster to make a namespace in. RS-3-2 needs five DataNodes. */
  static MiniDFSCluster empty(File work, boolean captureOpenFiles) throws Exception {
    EditLogFileOutputStream.setShouldSkipFsyncForTesting(true);
    Configuration c = configuration(work);
    c.setInt("dfs.bytes-per-checksum", 512);
    c.setInt("dfs.heartbeat.interval", 1);
    c.setBoolean("dfs.namenode.snapshot.capture.openfiles", captureOpenFiles);
    c.setBoolean("dfs.client.block.write.replace-datanode-on-failure.enable", false);
    // Closing a file waits for a DataNode's report; asked too early, a client waits this long.
    c.setInt("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", 10);
    c.setInt("dfs.client.block.write.locateFollowingBlock.retries", 12);
    // An access time that differs from the modification time within a second.
    c.setLong("dfs.namenode.accesstime.precision", 1);
    makeKeys(c);
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(c)
            .numDataNodes(5)
            .storagesPerDatanode(3)
            .storageTypes(
                new StorageType[] {StorageType.DISK, StorageType.SSD, StorageType.ARCHIVE})
            .build();
    cluster.waitActive();
    return cluster;
  }

  /** A NameNode without DataNodes, started from one saved image. */
  static MiniDFSCluster fromImage(File work, File image, boolean upgrade) throws Exception {
    File name = new File(work, "name");
    File current = new File(name, "current");
    if (!current.mkdirs()) {
      throw new IOException("exists: " + current);
    }
    File identity = new File(image.getParentFile(), "VERSION");
    File md5 = new File(image.getPath() + ".md5");
    for (File f : new File[] {image, md5, identity}) {
      Files.copy(f.toPath(), new File(current, f.getName()).toPath());
    }
    String txid = Long.toString(Images.txid(image));
    Files.write(
        new File(current, "seen_txid").toPath(), (txid + "\n").getBytes(StandardCharsets.US_ASCII));

    Configuration c = configuration(work);
    c.set("dfs.namenode.name.dir", name.toURI().toString());
    c.set("dfs.namenode.edits.dir", name.toURI().toString());
    // Nothing may change what the image says. LAZY_PERSIST files whose replicas are lost (here all
    // are) would be deleted as soon as safe mode is off, then once an interval: so the first time
    // falls into a safe mode that does not end by itself. Not every version can switch it off.
    c.set("dfs.namenode.safemode.threshold-pct", "1.1");
    c.setInt("dfs.namenode.lazypersist.file.scrub.interval.sec", 864000);
    c.setBoolean("dfs.image.parallel.load", image.getParentFile().getName().contains("parallel"));
    MiniDFSCluster.Builder b =
        new MiniDFSCluster.Builder(c).numDataNodes(0).manageNameDfsDirs(false).format(false);
    if (upgrade) {
      b.startupOption(StartupOption.UPGRADE);
    }
    MiniDFSCluster cluster = b.build();
    cluster.getFileSystem().setSafeMode(SafeModeAction.SAFEMODE_LEAVE);
    return cluster;
  }

  private static Configuration configuration(File work) {
    FileSystem.enableSymlinks();
    Configuration c = new HdfsConfiguration();
    c.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, work.getPath());
    c.setInt("dfs.namenode.fs-limits.min-block-size", 512);
    c.setInt("dfs.namenode.fs-limits.max-xattrs-per-inode", 32);
    c.setBoolean("dfs.namenode.acls.enabled", true);
    c.setBoolean("dfs.namenode.posix.acl.inheritance.enabled", true);
    c.setBoolean("dfs.namenode.delegation.token.always-use", true);
    c.setBoolean("dfs.namenode.provided.enabled", true);
    String keys = keyStore(work);
    c.set("hadoop.security.key.provider.path", keys);
    c.set("dfs.encryption.key.provider.uri", keys);
    return c;
  }

  private static String keyStore(File work) {
    return "jceks://file" + new File(work, "keys.jceks").getPath();
  }

  private static void makeKeys(Configuration c) throws Exception {
    KeyProvider keys =
        KeyProviderFactory.get(new URI(c.get("hadoop.security.key.provider.path")), c);
    KeyProvider.Options o = new KeyProvider.Options(c);
    o.setBitLength(128);
    o.setCipher("AES/CTR/NoPadding");
    keys.createKey("key1", o);
    keys.createKey("key2", o);
    keys.flush();
  }
}
