package org.apache.hadoop.hdfs.server.namenode;

import java.io.FileNotFoundException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockManager;

/**
 * What no client can ask a NameNode for. It lies in the NameNode's own package, because what it
 * looks at is package-private, and uses reflection where versions differ.
 */
public final class NameNodePeek {
  private NameNodePeek() {}

  /** The configuration that the next saveNamespace reads the codec from. */
  public static Configuration imageConfiguration(NameNode nn) throws ReflectiveOperationException {
    Field field = FSImage.class.getDeclaredField("conf");
    field.setAccessible(true);
    return (Configuration) field.get(nn.getNamesystem().getFSImage());
  }

  /**
   * The quota usage of an inode as the NameNode computes it when it loads an image; for a directory
   * with quotas also the usage that it charges, which must be the same in a fresh NameNode.
   */
  public static String quotaUsage(NameNode nn, long id) throws FileNotFoundException {
    FSDirectory dir = nn.getNamesystem().getFSDirectory();
    INode inode = inode(nn, id);
    QuotaCounts q = inode.computeQuotaUsage(dir.getBlockManager().getStoragePolicySuite());
    StringBuilder json = new StringBuilder("{");
    counts(json, q, "ns", "ds", "t_");
    if (inode.isDirectory() && inode.asDirectory().getDirectoryWithQuotaFeature() != null) {
      json.append(',');
      QuotaCounts charged = inode.asDirectory().getDirectoryWithQuotaFeature().getSpaceConsumed();
      counts(json, charged, "cachedNs", "cachedDs", "cached_t_");
    }
    return json.append('}').toString();
  }

  private static void counts(StringBuilder b, QuotaCounts q, String ns, String ds, String type) {
    b.append('"').append(ns).append("\":").append(q.getNameSpace());
    b.append(",\"").append(ds).append("\":").append(q.getStorageSpace());
    for (StorageType t : StorageType.getTypesSupportingQuota()) {
      b.append(",\"").append(type).append(t).append("\":").append(q.getTypeSpace(t));
    }
  }

  /**
   * A live file's blocks: [[id, generation stamp, bytes],...]. A client is not told of an open
   * file's last block before a DataNode has reported it; an image holds it.
   */
  public static String blocks(NameNode nn, long id) throws FileNotFoundException {
    StringBuilder json = new StringBuilder("[");
    Block[] blocks = inode(nn, id).asFile().getBlocks();
    for (Block b : blocks == null ? new Block[0] : blocks) {
      json.append(json.length() > 1 ? ",[" : "[").append(b.getBlockId());
      json.append(',').append(b.getGenerationStamp()).append(',').append(b.getNumBytes());
      json.append(']');
    }
    return json.append(']').toString();
  }

  /** What all blocks take on disk that some file or snapshot holds: {"id":[bytes, space],...}. */
  public static String allBlocks(NameNode nn) throws ReflectiveOperationException {
    Field map = BlockManager.class.getDeclaredField("blocksMap");
    map.setAccessible(true);
    Object blocksMap = map.get(nn.getNamesystem().getBlockManager());
    Method getBlocks = blocksMap.getClass().getDeclaredMethod("getBlocks");
    getBlocks.setAccessible(true);
    StringBuilder json = new StringBuilder("{");
    for (Object o : (Iterable<?>) getBlocks.invoke(blocksMap)) {
      Block b = (Block) o;
      json.append(json.length() > 1 ? ",\"" : "\"").append(b.getBlockId()).append("\":[");
      json.append(b.getNumBytes()).append(',').append(space(b)).append(']');
    }
    return json.append('}').toString();
  }

  private static long space(Block b) throws ReflectiveOperationException {
    boolean striped = b.getClass().getSimpleName().equals("BlockInfoStriped");
    Method m = b.getClass().getMethod(striped ? "spaceConsumed" : "getReplication");
    m.setAccessible(true);
    long n = ((Number) m.invoke(b)).longValue();
    return striped ? n : n * b.getNumBytes();
  }

  public static boolean isOpen(NameNode nn, long id) throws FileNotFoundException {
    return inode(nn, id).asFile().isUnderConstruction();
  }

  /** Gives an inode a name that no client can make, for example one that is not UTF-8. */
  public static void rename(NameNode nn, long id, byte[] name) throws Exception {
    INode inode = inode(nn, id);
    INodeDirectory parent = inode.getParent();
    parent.removeChild(inode);
    inode.setLocalName(name);
    Method addChild = INodeDirectory.class.getDeclaredMethod("addChild", INode.class);
    addChild.setAccessible(true);
    addChild.invoke(parent, inode);
  }

  private static INode inode(NameNode nn, long id) throws FileNotFoundException {
    INode inode = nn.getNamesystem().getFSDirectory().getInode(id);
    if (inode == null) {
      throw new FileNotFoundException("inode " + id);
    }
    return inode;
  }
}
