package fsweep.rig;

import static fsweep.rig.Namespace.path;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;
import org.apache.hadoop.hdfs.protocol.SnapshottableDirectoryStatus;
import org.apache.hadoop.hdfs.server.namenode.FSNamesystem;
import org.apache.hadoop.hdfs.server.namenode.NameNodePeek;

/** Writes down what a NameNode answers about every path. */
final class Truth {
  private final Namespace ns;

  Truth(Namespace ns) {
    this.ns = ns;
  }

  /** OUT/listing.jsonl, quota.jsonl, snapshots.jsonl, global.json. */
  void write(File out) throws IOException {
    Files.createDirectories(out.toPath());
    try (PrintWriter listing = new PrintWriter(new File(out, "listing.jsonl"), "US-ASCII");
        PrintWriter quota = new PrintWriter(new File(out, "quota.jsonl"), "US-ASCII")) {
      writeTree(new byte[0], "/", ns.client.getFileInfo("/"), listing, quota);
    }
    try (PrintWriter snapshots = new PrintWriter(new File(out, "snapshots.jsonl"), "US-ASCII")) {
      for (String s : snapshotPaths()) {
        byte[] p = s.getBytes(StandardCharsets.UTF_8);
        writeTree(p, s, ns.client.getFileInfo(s), snapshots, null);
      }
    }
    writeGlobal(out);
  }

  /** OUT/quota.jsonl of these directories alone, which large images need, and global.json. */
  void writeSums(File out, List<String> directories) throws IOException {
    Files.createDirectories(out.toPath());
    try (PrintWriter quota = new PrintWriter(new File(out, "quota.jsonl"), "US-ASCII")) {
      for (String directory : directories) {
        HdfsFileStatus s = ns.client.getFileInfo(directory);
        if (s == null) {
          throw new IOException("no such path: " + directory);
        }
        writeSummary(directory.getBytes(StandardCharsets.UTF_8), directory, s, quota);
      }
    }
    writeGlobal(out);
  }

  private void writeGlobal(File out) throws IOException {
    try (PrintWriter global = new PrintWriter(new File(out, "global.json"), "US-ASCII")) {
      FSNamesystem system = ns.nameNode.getNamesystem();
      global.println(
          new Json()
              .put("filesTotal", system.getFilesTotal())
              .put("blocksTotal", system.getBlocksTotal())
              .put("snapshots", system.getSnapshotManager().getNumSnapshots()));
    }
  }

  private List<String> snapshotPaths() throws IOException {
    List<String> paths = new ArrayList<>();
    SnapshottableDirectoryStatus[] roots = ns.fs.getSnapshottableDirListing();
    for (SnapshottableDirectoryStatus r :
        roots == null ? new SnapshottableDirectoryStatus[0] : roots) {
      String dir = r.getFullPath().toUri().getPath() + "/.snapshot/";
      for (FileStatus s : ns.fs.listStatus(path(dir))) {
        paths.add(dir + s.getPath().getName());
      }
    }
    return paths;
  }

  /**
   * Writes a path and all below it. NAME is the path's exact bytes, ASK what to call it when asking:
   * the same as text, or the inode's reserved path where no text is the same.
   */
  private void writeTree(
      byte[] name, String ask, HdfsFileStatus s, PrintWriter listing, PrintWriter quota)
      throws IOException {
    writeInode(name, ask, s, listing, quota != null);
    if (quota != null && !s.isSymlink()) {
      writeSummary(name, ask, s, quota);
    }
    if (!s.isDir()) {
      return;
    }
    for (HdfsFileStatus child : list(ask)) {
      byte[] local = child.getLocalNameInBytes();
      byte[] childName = Arrays.copyOf(name, name.length + 1 + local.length);
      childName[name.length] = '/';
      System.arraycopy(local, 0, childName, name.length + 1, local.length);
      String text = text(childName);
      if (!Arrays.equals(childName, text.getBytes(StandardCharsets.UTF_8))) {
        text = "/.reserved/.inodes/" + child.getFileId();
      }
      // A listing shows the inherited storage policy even where it has no effect, which is at
      // symlinks and at striped files of most policies; asked for one by one, they have none.
      HdfsFileStatus status = child;
      if (child.isSymlink() || (ns.hadoop3 != null && ns.hadoop3.isStriped(child))) {
        status = ns.client.getFileLinkInfo(text);
      }
      writeTree(childName, text, status, listing, quota);
    }
  }

  private List<HdfsFileStatus> list(String dir) throws IOException {
    List<HdfsFileStatus> all = new ArrayList<>();
    byte[] after = HdfsFileStatus.EMPTY_NAME;
    DirectoryListing part;
    do {
      part = ns.client.listPaths(dir, after);
      if (part == null) {
        throw new IOException("cannot list " + dir);
      }
      all.addAll(Arrays.asList(part.getPartialListing()));
      after = part.getLastName();
    } while (part.hasMore());
    return all;
  }

  private static String text(byte[] name) {
    return name.length == 0 ? "/" : new String(name, StandardCharsets.UTF_8);
  }

  private static Json row(byte[] name) {
    String text = text(name);
    Json json = new Json().put("path", text);
    if (name.length > 0 && !Arrays.equals(name, text.getBytes(StandardCharsets.UTF_8))) {
      json.put("path_b64", Base64.getEncoder().encodeToString(name));
    }
    return json;
  }

  private void writeInode(
      byte[] name, String ask, HdfsFileStatus s, PrintWriter listing, boolean live)
      throws IOException {
    Json json =
        row(name)
            .put("fileId", s.getFileId())
            .put("type", s.isDir() ? "DIRECTORY" : s.isSymlink() ? "SYMLINK" : "FILE")
            .put("size", s.getLen())
            .put("replication", s.getReplication())
            .put("blocksize", s.getBlockSize())
            .put("mtime", s.getModificationTime())
            .put("atime", s.getAccessTime())
            .put("owner", s.getOwner())
            .put("group", s.getGroup())
            .put("perm", String.format("%04o", s.getPermission().toShort() & 07777))
            .put("storagePolicy", s.getStoragePolicy())
            .put(
                "encrypted",
                ns.hadoop3 != null
                    ? ns.hadoop3.isEncrypted(s)
                    : s.getPermission().getEncryptedBit())
            .put("ecPolicy", ns.hadoop3 != null ? ns.hadoop3.erasureCodingPolicy(s) : null)
            .put("children", s.getChildrenNum());
    if (s.isSymlink()) {
      json.put("target", new String(s.getSymlinkInBytes(), StandardCharsets.UTF_8));
    } else {
      aclAndAttributes(json, ask);
    }
    if (!s.isDir() && !s.isSymlink()) {
      blocks(json, ask, s.getFileId(), live);
    }
    listing.println(json);
  }

  private void aclAndAttributes(Json json, String ask) throws IOException {
    AclStatus acl = ns.client.getAclStatus(ask);
    if (!acl.getEntries().isEmpty()) {
      json.put("acl", acl.getEntries().toString());
    }
    Map<String, byte[]> attributes = ns.client.getXAttrs(ask);
    if (!attributes.isEmpty()) {
      Json values = new Json();
      for (Map.Entry<String, byte[]> e : new TreeMap<>(attributes).entrySet()) {
        values.put(e.getKey(), hex(e.getValue()));
      }
      json.raw("xattrs", values.toString());
    }
  }

  private static String hex(byte[] value) {
    StringBuilder digits = new StringBuilder();
    for (byte b : value == null ? new byte[0] : value) {
      digits.append(String.format("%02x", b & 0xff));
    }
    return digits.toString();
  }

  private void blocks(Json json, String ask, long id, boolean live) throws IOException {
    if (live) {
      json.put("uc", NameNodePeek.isOpen(ns.nameNode, id));
      json.raw("blocks", NameNodePeek.blocks(ns.nameNode, id));
      return;
    }
    LocatedBlocks located;
    try {
      located = ns.client.getLocatedBlocks(ask, 0, Long.MAX_VALUE);
    } catch (IOException e) {
      // A file truncated since the snapshot: the NameNode itself fails there.
      json.put("blkErr", e.toString().split("\n")[0]);
      return;
    }
    StringBuilder list = new StringBuilder("[");
    for (LocatedBlock b : located.getLocatedBlocks()) {
      list.append(list.length() > 1 ? ",[" : "[").append(b.getBlock().getBlockId());
      list.append(',').append(b.getBlock().getGenerationStamp());
      list.append(',').append(b.getBlockSize()).append(']');
    }
    json.put("uc", located.isUnderConstruction()).raw("blocks", list.append(']').toString());
  }

  private void writeSummary(byte[] name, String ask, HdfsFileStatus s, PrintWriter quota)
      throws IOException {
    ContentSummary c = ns.client.getNamenode().getContentSummary(ask);
    Json types = new Json();
    for (StorageType t : StorageType.getTypesSupportingQuota()) {
      types.raw(t.toString(), "[" + c.getTypeQuota(t) + "," + c.getTypeConsumed(t) + "]");
    }
    Json json =
        row(name)
            .put("inodeId", s.getFileId())
            .put("dirCount", c.getDirectoryCount())
            .put("fileCount", c.getFileCount())
            .put("length", c.getLength())
            .put("spaceConsumed", c.getSpaceConsumed())
            .put("nsQuota", c.getQuota())
            .put("dsQuota", c.getSpaceQuota())
            .raw("types", types.toString());
    if (ns.hadoop3 != null) {
      ns.hadoop3.snapshotCounts(json, c);
      json.raw("quotaUsage", ns.hadoop3.quotaUsage(ns, ask));
    }
    quota.println(json.raw("nn", NameNodePeek.quotaUsage(ns.nameNode, s.getFileId())));
  }
}
