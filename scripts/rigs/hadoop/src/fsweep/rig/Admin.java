package fsweep.rig;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Changes the namespace of one NameNode as its superuser. Paths go to the NameNode as they are,
 * which the classes Path and FileSystem would not let them.
 */
final class Admin {
  private static final int BUFFER = 64 << 10;

  private final Settings settings;
  private final DistributedFileSystem fs;
  private final DFSClient client;
  private final Hadoop3 hadoop3;

  /** Streams that are never closed: their files stay under construction. */
  private final List<Closeable> open = new ArrayList<>();

  Admin(Settings settings, InetSocketAddress nameNode) throws Exception {
    this.settings = settings;
    Configuration c = settings.client();
    fs = (DistributedFileSystem) FileSystem.newInstance(URI.create(Settings.uri(nameNode)), c);
    client = fs.getClient();
    hadoop3 = Hadoop3.load(settings.version);
  }

  /** Returns a text, which is empty where there is nothing to tell. */
  String carryOut(String verb, List<String> a) throws Exception {
    String p = a.isEmpty() ? "" : a.get(0);
    switch (verb) {
      case "mkdir": // PATH OWNER PERMISSION; what is missing above as the superuser's, 0755
        mkdirs(parent(p));
        done(client.mkdirs(p, permission(a.get(2)), false));
        client.setPermission(p, permission(a.get(2))); // creation ignores the sticky bit
        own(p, a.get(1));
        return "";
      case "put": // PATH OWNER BASE64
        mkdirs(parent(p));
        try (OutputStream o = create(p)) {
          o.write(Base64.getDecoder().decode(a.get(2)));
        } catch (NoSuchMethodError e) {
          // Having closed an encrypted file, Hadoop 2 frees a buffer as Java 8 did.
          if (!client.isFileClosed(p)) {
            throw e;
          }
        }
        own(p, a.get(1));
        return "";
      case "put-erasure-coded": // PATH BASE64 POLICY
        mkdirs(parent(p));
        try (OutputStream o = hadoop3.createStriped(fs, p, a.get(2))) {
          o.write(Base64.getDecoder().decode(a.get(1)));
        }
        return "";
      case "open": // PATH BASE64; the bytes have reached the DataNodes
        mkdirs(parent(p));
        OutputStream o = create(p);
        open.add(o);
        byte[] bytes = Base64.getDecoder().decode(a.get(1));
        if (bytes.length > 0) {
          o.write(bytes);
          ((org.apache.hadoop.fs.Syncable) o).hflush();
        }
        return "";
      case "append": // PATH BASE64
        try (OutputStream more =
            client.append(p, BUFFER, EnumSet.of(CreateFlag.APPEND), null, null)) {
          more.write(Base64.getDecoder().decode(a.get(1)));
        }
        return "";
      case "delete":
        done(client.delete(p, true));
        return "";
      case "rename": // FROM TO, which must not exist
        client.rename(p, a.get(1), Rename.NONE);
        return "";
      case "stat": // ID KIND LENGTH MTIME ATIME OWNER GROUP PERMISSION, or nothing
        return stat(p);
      case "trash-root": // PATH USER: what Hadoop's own client says
        return trashRoot(p, a.get(1));
      default:
        return attributes(verb, p, a);
    }
  }

  private String attributes(String verb, String p, List<String> a) throws Exception {
    switch (verb) {
      case "symlink": // PATH TARGET
        client.createSymlink(a.get(1), p, false);
        return "";
      case "chmod": // PATH PERMISSION
        client.setPermission(p, permission(a.get(1)));
        return "";
      case "chown": // PATH OWNER GROUP
        client.setOwner(p, orNull(a.get(1)), orNull(a.get(2)));
        return "";
      case "times": // PATH MTIME ATIME
        client.setTimes(p, Long.parseLong(a.get(1)), Long.parseLong(a.get(2)));
        return "";
      case "xattr": // PATH NAME BASE64
        client.setXAttr(
            p,
            a.get(1),
            Base64.getDecoder().decode(a.get(2)),
            EnumSet.of(XAttrSetFlag.CREATE, XAttrSetFlag.REPLACE));
        return "";
      case "acl": // PATH SPECIFICATION
        client.modifyAclEntries(p, AclEntry.parseAclSpec(a.get(1), true));
        return "";
      case "quota": // PATH INODES BYTES; -1: none
        client.getNamenode().setQuota(p, Long.parseLong(a.get(1)), Long.parseLong(a.get(2)), null);
        return "";
      case "zone":
        client.createEncryptionZone(p, Settings.KEY);
        return "";
      case "allow-snapshots":
        client.allowSnapshot(p);
        return "";
      case "snapshot": // PATH NAME
        return client.createSnapshot(p, a.get(1));
      case "delete-snapshot": // PATH NAME
        client.deleteSnapshot(p, a.get(1));
        return "";
      case "safe-mode": // enter, leave
        client.setSafeMode(
            p.equals("enter") ? SafeModeAction.SAFEMODE_ENTER : SafeModeAction.SAFEMODE_LEAVE);
        return "";
      case "save": // the namespace, into the name directory
        client.setSafeMode(SafeModeAction.SAFEMODE_ENTER);
        fs.saveNamespace();
        client.setSafeMode(SafeModeAction.SAFEMODE_LEAVE);
        return "";
      default:
        throw new IllegalArgumentException("no such command: " + verb);
    }
  }

  private OutputStream create(String p) throws IOException {
    return client.createWrappedOutputStream(
        client.create(
            p,
            permission("644"),
            EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE),
            false,
            (short) 1,
            fs.getDefaultBlockSize(),
            null,
            BUFFER,
            null),
        null);
  }

  private String stat(String p) throws IOException {
    HdfsFileStatus s = client.getFileLinkInfo(p);
    if (s == null) {
      return "";
    }
    String kind = s.isSymlink() ? "symlink" : s.isDir() ? "directory" : "file";
    return String.join(
        " ",
        Long.toString(s.getFileId()),
        kind,
        Long.toString(s.getLen()),
        Long.toString(s.getModificationTime()),
        Long.toString(s.getAccessTime()),
        s.getOwner(),
        s.getGroup(),
        Integer.toOctalString(s.getPermission().toShort()));
  }

  private String trashRoot(String p, String user) throws Exception {
    PrivilegedExceptionAction<String> ask =
        () -> {
          try (FileSystem theirs = FileSystem.newInstance(fs.getUri(), fs.getConf())) {
            return theirs.getTrashRoot(new Path(p)).toUri().getPath();
          }
        };
    UserGroupInformation other =
        settings.kerberos()
            ? UserGroupInformation.loginUserFromKeytabAndReturnUGI(
                user, settings.keytab(user).getPath())
            : UserGroupInformation.createRemoteUser(user);
    return other.doAs(ask);
  }

  /** A directory that exists stays as it is. */
  private void mkdirs(String p) throws IOException {
    if (!p.isEmpty()) {
      done(client.mkdirs(p, permission("755"), true));
    }
  }

  private void own(String p, String owner) throws IOException {
    if (!owner.isEmpty()) {
      client.setOwner(p, owner, null);
    }
  }

  private static String parent(String p) {
    return p.substring(0, p.lastIndexOf('/'));
  }

  private static String orNull(String s) {
    return s.isEmpty() ? null : s;
  }

  private static FsPermission permission(String octal) {
    return new FsPermission((short) Integer.parseInt(octal, 8));
  }

  private static void done(boolean ok) throws IOException {
    if (!ok) {
      throw new IOException("the NameNode answered false");
    }
  }
}
