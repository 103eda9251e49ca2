package fsweep.rig;

import static fsweep.rig.Namespace.BLOCK;
import static fsweep.rig.Namespace.acl;
import static fsweep.rig.Namespace.path;
import static fsweep.rig.Namespace.step;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.client.HdfsDataOutputStream;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.protocol.CacheDirectiveInfo;
import org.apache.hadoop.hdfs.protocol.CachePoolInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.NSQuotaExceededException;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;
import org.apache.hadoop.hdfs.server.namenode.NameNodePeek;
import org.apache.hadoop.security.token.Token;

/** Every feature of an image but snapshots: a directory of the root for each. */
final class Features {
  private static final long TIME = 1_700_000_000_000L;
  private static final long DAY = 86_400_000L;

  private final Namespace ns;

  Features(Namespace ns) {
    this.ns = ns;
  }

  void make() throws Exception {
    step("files", this::files);
    step("names", this::names);
    step("quotas", this::quotas);
    step("policies", this::policies);
    step("attributes", this::attributes);
    if (ns.hadoop3 != null) { // Hadoop 2 encrypts with classes that only older JDKs have
      step("encryption", this::encryption);
      step("erasure coding", this::erasureCoding);
    }
    step("open files", this::openFiles);
    step("tokens and caches", this::tokensAndCaches);
    step("times", this::times);
  }

  private void files() throws IOException {
    ns.mkdirs("/user/alice/sub1/sub2", "/user/bob", "/empty-dir", "/tmp", "/links", "/concat");
    ns.fs.setPermission(path("/tmp"), new FsPermission((short) 01777));
    ns.write("/user/alice/empty", 0);
    ns.write("/user/alice/one-block", 700);
    ns.write("/user/alice/exact-block", BLOCK);
    ns.write("/user/alice/multi", 5 * BLOCK + 17, 3);
    ns.write("/user/alice/sub1/rep2", 2 * BLOCK, 2);
    ns.write("/user/alice/sub1/sub2/rep5", 100, 5);
    ns.write("/user/bob/times", 5);
    ns.fs.setReplication(path("/user/alice/sub1/rep2"), (short) 4);
    ns.fs.setPermission(path("/user/alice/one-block"), new FsPermission((short) 0600));
    ns.fs.setOwner(path("/user/alice"), "alice", "users");
    ns.fs.setOwner(path("/user/alice/multi"), "alice", "grp-\u00fc");
    ns.fs.setOwner(path("/user/bob"), "bob", "users");

    StringBuilder deep = new StringBuilder("/deep");
    for (int i = 0; i < 150; i++) {
      deep.append("/d").append(i);
    }
    ns.mkdirs(deep.toString());
    ns.write(deep + "/leaf", 10);

    ns.fs.createSymlink(path("/user/alice/multi"), path("/links/to-multi"), true);
    ns.fs.createSymlink(path("/does/not/exist"), path("/links/dangling"), true);
    ns.fs.createSymlink(path("/user/alice"), path("/links/to-dir"), true);
    ns.fs.createSymlink(path("../user/bob/times"), path("/links/relative"), true);

    ns.write("/concat/a", 2 * BLOCK);
    ns.write("/concat/b", BLOCK);
    ns.write("/concat/c", 500);
    ns.fs.concat(
        path("/concat/a"),
        new org.apache.hadoop.fs.Path[] {path("/concat/b"), path("/concat/c")});
  }

  private void names() throws IOException {
    String[] names = {
      "a b", " lead", "trail ", "new\nline", "tab\there", "cr\rhere", "crlf\r\nx", "comma,name",
      "quo\"te", "sing'le", "per%cent", "%20enc", "%2Fslash", "%x0A", "plus+and&amp;",
      "<xml>&'\"", "back\\slash", "\u00fcn\u00ef-nfc", "u\u0308-nfd", "\u65e5\u672c\u8a9e",
      "emoji-\ud83d\ude80", "rtl-\u202eabc", "zw\u200bsp", "nbsp\u00a0x", "ctl-\u0001-\u001f",
      "del\u007f", "bom\ufeff", "ffff\ufffe", "repl\ufffd", "..dots", "...", "-dash", "#hash",
      "star*q?[x]{y}", "semi;pipe|", "$HOME`id`", "~tilde", "=cmd", "@at", "line\u2028sep",
      "null", "NaN", "_COPYING_x._COPYING_", "name" + new String(new char[200]).replace('\0', 'L'),
    };
    ns.mkdirs("/odd");
    for (int i = 0; i < names.length; i++) {
      // Not through FileSystem: its Path changes some of them.
      String p = "/odd/" + names[i];
      ns.client.mkdirs(p + "-dir", new FsPermission((short) 0755), true);
      try (OutputStream out = ns.client.create(p, true)) {
        out.write(new byte[10 + i]);
      }
    }
  }

  /** Names that are not UTF-8: no client can make them, but images hold them. */
  static void rawNames(Namespace ns) throws Exception {
    byte[] bad = "bad\u00ff\u00fe\u00c3(\u00ed\u00a0\u0080".getBytes(StandardCharsets.ISO_8859_1);
    ns.mkdirs("/raw/d/sub");
    ns.write("/raw/x", 10);
    ns.write("/raw/d/in", 20);
    NameNodePeek.rename(ns.nameNode, ns.client.getFileInfo("/raw/x").getFileId(), bad);
    byte[] latin = "r\u00e9pertoire".getBytes(StandardCharsets.ISO_8859_1);
    NameNodePeek.rename(ns.nameNode, ns.client.getFileInfo("/raw/d").getFileId(), latin);
  }

  private void quotas() throws IOException {
    ns.mkdirs("/quota/ns/a/b", "/quota/ds", "/quota/full", "/quota/space-full", "/quota/type-only");
    for (int i = 0; i < 5; i++) {
      ns.write("/quota/ns/a/f" + i, 100 * i, 2);
    }
    ns.fs.setQuota(path("/quota/ns"), 20, HdfsConstants.QUOTA_DONT_SET);
    ns.fs.setQuota(path("/quota/ns/a"), 10, 1 << 20);
    ns.write("/quota/ds/f", 3000, 3);
    ns.fs.setQuota(path("/quota/ds"), HdfsConstants.QUOTA_DONT_SET, 10L << 20);
    ns.write("/quota/ds/g", 1500, 2);
    ns.fs.setQuotaByStorageType(path("/quota/type-only"), StorageType.SSD, 1000);
    ns.write("/quota/type-only/not-charged", 300);

    ns.fs.setQuota(path("/quota/full"), 1, HdfsConstants.QUOTA_DONT_SET);
    mustExceed("/quota/full/x", NSQuotaExceededException.class);
    // Refused when the first block is asked for: an empty open file remains.
    ns.fs.setQuota(path("/quota/space-full"), HdfsConstants.QUOTA_DONT_SET, 512);
    mustExceed("/quota/space-full/x", QuotaExceededException.class);
  }

  private void mustExceed(String p, Class<? extends IOException> expected) throws IOException {
    try {
      ns.write(p, 600);
    } catch (IOException e) {
      if (expected.isInstance(e)) {
        return;
      }
      throw e;
    }
    throw new IOException(p + " was not refused");
  }

  /** One directory a policy, with type quotas, and files that follow it and that do not. */
  private void policies() throws IOException {
    ns.mkdirs("/policy");
    for (BlockStoragePolicy policy : ns.client.getStoragePolicies()) {
      String d = "/policy/" + policy.getName();
      ns.mkdirs(d + "/sub");
      for (StorageType t : StorageType.getTypesSupportingQuota()) {
        ns.fs.setQuotaByStorageType(path(d), t, 1 << 20);
      }
      // Written before the policy is set: there is no DataNode for some of the types.
      ns.write(d + "/r3", 2500, 3);
      ns.write(d + "/r1", 100, 1);
      ns.write(d + "/sub/f", BLOCK, 2);
      ns.fs.setStoragePolicy(path(d), policy.getName());
      if (policy.getName().equals("LAZY_PERSIST")) {
        ns.write(d + "/after", 2500, 3); // the policy is refused on a file that exists
        continue;
      }
      String own = "/policy/file-" + policy.getName();
      ns.write(own, BLOCK + 1, 3);
      ns.fs.setStoragePolicy(path(own), policy.getName());
    }
    ns.fs.setStoragePolicy(path("/policy/HOT/r1"), "ALL_SSD");
    ns.mkdirs("/policy/cleared");
    ns.fs.setQuotaByStorageType(path("/policy/cleared"), StorageType.SSD, 1000);
    ns.fs.setQuotaByStorageType(path("/policy/cleared"), StorageType.SSD, -1);
  }

  private void attributes() throws IOException {
    ns.mkdirs("/acl/d", "/acl/default-only");
    String access = "user::rwx,user:carol:r-x,group::r-x,group:ops:rwx,mask::rwx,other::---";
    String defaults =
        "default:user::rwx,default:user:dave:rw-,default:group::r-x,default:mask::rwx,"
            + "default:other::r--";
    ns.fs.setAcl(path("/acl/d"), acl(access + "," + defaults));
    ns.mkdirs("/acl/d/inherits");
    ns.write("/acl/d/file", 20);
    ns.fs.setAcl(
        path("/acl/d/file"),
        acl("user::rw-,user:erin:rwx,group::r--,mask::r--,other::r--"));
    ns.fs.modifyAclEntries(path("/acl/default-only"), acl("default:user:frank:rwx"));

    ns.mkdirs("/xattr");
    ns.write("/xattr/f", 5);
    ns.fs.setXAttr(path("/xattr/f"), "user.plain", "v1".getBytes(StandardCharsets.UTF_8));
    ns.fs.setXAttr(path("/xattr/f"), "user.empty", null);
    ns.fs.setXAttr(path("/xattr/f"), "trusted.bin", new byte[] {0, 1, (byte) 0xff, 10});
    ns.fs.setXAttr(
        path("/xattr/f"), "user.\u00fcn\u00ef", "wert".getBytes(StandardCharsets.UTF_8));
    ns.fs.setXAttr(path("/xattr"), "user.dir", "d".getBytes(StandardCharsets.UTF_8));
    ns.fs.setXAttr(path("/xattr/f"), "security.hdfs.unreadable.by.superuser", null);
  }

  private void encryption() throws IOException {
    ns.mkdirs("/ez1", "/ez2/in");
    ns.fs.createEncryptionZone(path("/ez1"), "key1");
    ns.write("/ez1/secret", 1500);
    ns.mkdirs("/ez1/sub");
    ns.write("/ez1/sub/s2", 10);
    ns.fs.createSymlink(path("/ez1/secret"), path("/ez1/link"), true);
    ns.fs.createEncryptionZone(path("/ez2/in"), "key2");
    ns.write("/ez2/in/empty", 0);
  }

  private void erasureCoding() throws IOException {
    ns.hadoop3.enableErasureCoding(ns);
    ns.hadoop3.makeErasureCoded(ns);
  }

  private void openFiles() throws IOException {
    ns.mkdirs("/uc");
    ns.leaveOpen(ns.create("/uc/empty", 2), 0, false);
    ns.leaveOpen(ns.create("/uc/flushed-1500", 2), 1500, true);
    ns.leaveOpen(ns.create("/uc/flushed-one-block", 2), BLOCK, true);
    ns.leaveOpen(ns.create("/uc/flushed-100", 2), 100, true);
    ns.leaveOpen(ns.create("/uc/not-flushed", 2), 1800, false);
    ns.write("/uc/appended", 1500, 2);
    ns.leaveOpen(ns.fs.append(path("/uc/appended")), 100, true);
    ns.leaveOpen(ns.create("/uc/before-rename", 2), 300, true);
    ns.fs.rename(path("/uc/before-rename"), path("/uc/renamed"));
    ns.write("/uc/append-idle", 2 * BLOCK, 3);
    ns.leaveOpen(ns.fs.append(path("/uc/append-idle")), 0, false);
    ns.fs.setQuota(path("/uc"), 100, 1 << 30);
    FSDataOutputStream out = ns.create("/uc/length-updated", 2);
    ns.leaveOpen(out, 200, false);
    ((HdfsDataOutputStream) out)
        .hsync(EnumSet.of(HdfsDataOutputStream.SyncFlag.UPDATE_LENGTH));
  }

  private void tokensAndCaches() throws IOException {
    Token<?> token = ns.fs.getDelegationToken(System.getProperty("user.name"));
    if (token == null) {
      throw new FileNotFoundException("no delegation token");
    }
    ns.fs.addCachePool(
        new CachePoolInfo("pool1")
            .setOwnerName("own")
            .setGroupName("grp")
            .setMode(new FsPermission((short) 0750))
            .setLimit(1L << 30)
            .setMaxRelativeExpiryMs(DAY * 3650));
    ns.fs.addCachePool(new CachePoolInfo("pool-\u00fc"));
    ns.fs.addCacheDirective(
        new CacheDirectiveInfo.Builder()
            .setPath(path("/user/alice/multi"))
            .setPool("pool1")
            .setReplication((short) 2)
            .build());
    ns.fs.addCacheDirective(
        new CacheDirectiveInfo.Builder()
            .setPath(path("/does-not-exist"))
            .setPool("pool-\u00fc")
            .setExpiration(CacheDirectiveInfo.Expiration.newRelative(DAY * 365))
            .build());
  }

  private void times() throws IOException {
    setTimes("/user/alice/one-block", TIME - 400 * DAY, TIME);
    setTimes("/user/alice/multi", 1, 2);
    setTimes("/user/bob/times", TIME, 0);
    setTimes("/empty-dir", TIME - 1000, 0);
    setTimes("/user/bob", 0, 0);
  }

  private void setTimes(String p, long modified, long accessed) throws IOException {
    ns.fs.setTimes(path(p), modified, accessed);
  }
}
