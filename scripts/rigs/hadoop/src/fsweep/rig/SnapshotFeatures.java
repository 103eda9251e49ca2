package fsweep.rig;

import static fsweep.rig.Namespace.BLOCK;
import static fsweep.rig.Namespace.acl;
import static fsweep.rig.Namespace.path;
import static fsweep.rig.Namespace.step;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.permission.FsPermission;

/** What snapshots do to an image: diffs, deleted lists, references, created lists. */
final class SnapshotFeatures {
  private final Namespace ns;

  SnapshotFeatures(Namespace ns) {
    this.ns = ns;
  }

  void make() throws Exception {
    step("snapshot 1", this::first);
    step("snapshot 2", this::deletedAndAppended);
    step("snapshot 3", this::truncatedAndMovedOut);
    step("snapshot 4", this::changedAfterwards);
    step("deleted below a quota", this::deletedBelowQuota);
  }

  private void first() throws IOException {
    ns.mkdirs("/snap/d/e", "/snap/mv/inner", "/snap/q", "/snap2", "/elsewhere", "/snap-empty");
    ns.write("/snap/a", 2 * BLOCK + 5, 2);
    ns.write("/snap/b", 300);
    ns.write("/snap/c", 1500, 2);
    ns.write("/snap/d/x", 100);
    ns.write("/snap/d/e/y", 200, 3);
    ns.write("/snap/mv/m1", 400);
    ns.write("/snap/mv/inner/m2", 500);
    ns.write("/snap/t", 4000, 2);
    ns.write("/snap/r", 10, 3);
    ns.write("/snap/overwritten", 50);
    ns.write("/snap/out", 77, 2);
    ns.write("/snap/perm", 1);
    ns.write("/snap/q/qq", 90, 2);
    ns.write("/snap2/z", 60);
    ns.fs.createSymlink(path("/snap/b"), path("/snap/d/link"), true);
    ns.fs.createSymlink(path("/snap/b"), path("/snap/link-kept"), true);
    ns.leaveOpen(ns.create("/snap/open-deleted", 2), 700, true);
    ns.leaveOpen(ns.create("/snap/open-kept", 2), 1300, true);
    if (ns.hadoop3 != null) {
      // Striped and changed since: counted at a snapshot, it adds namespace 2.
      String policy = ns.hadoop3.policies().get(0);
      ns.hadoop3.createStriped(ns, "/snap/mv/striped", policy).close();
      ns.hadoop3.createStriped(ns, "/snap/striped", policy).close();
    }
    ns.fs.setQuota(path("/snap"), 500, 1 << 30);
    ns.fs.setQuota(path("/snap/q"), 50, 1 << 20);
    for (String root : new String[] {"/snap", "/snap2", "/snap-empty"}) {
      ns.fs.allowSnapshot(path(root));
    }
    ns.fs.createSnapshot(path("/snap"), "s1");
    ns.fs.createSnapshot(path("/snap2"), "z1");
  }

  private void deletedAndAppended() throws IOException {
    ns.fs.delete(path("/snap/a"), false);
    ns.fs.rename(path("/snap/b"), path("/snap/b2"));
    ns.append("/snap/c", 900);
    ns.write("/snap/new2", 33);
    ns.fs.delete(path("/snap/open-deleted"), false);
    if (ns.hadoop3 != null) {
      ns.fs.setPermission(path("/snap/mv/striped"), new FsPermission((short) 0600));
      ns.fs.delete(path("/snap/striped"), false);
    }
    ns.fs.createSnapshot(path("/snap"), "s2");
  }

  private void truncatedAndMovedOut() throws IOException, InterruptedException {
    ns.fs.truncate(path("/snap/t"), 2 * BLOCK);
    ns.fs.truncate(path("/snap/c"), 1000);
    ns.waitUntilClosed("/snap/c");
    ns.fs.delete(path("/snap/d"), true);
    ns.fs.setReplication(path("/snap/r"), (short) 1);
    ns.write("/snap/overwritten", 60);
    ns.fs.rename(path("/snap/mv"), path("/elsewhere/mv"));
    ns.fs.rename(path("/snap/out"), path("/snap2/out-in2"));
    ns.fs.setPermission(path("/snap/perm"), new FsPermission((short) 0400));
    ns.fs.setOwner(path("/snap/perm"), "zed", "zed");
    ns.fs.setXAttr(path("/snap/perm"), "user.k", "v".getBytes(StandardCharsets.UTF_8));
    ns.fs.modifyAclEntries(path("/snap/perm"), acl("user:gina:rwx"));
    ns.fs.createSnapshot(path("/snap"), "s3");
    ns.fs.createSnapshot(path("/snap2"), "z2");
  }

  private void changedAfterwards() throws IOException {
    ns.write("/elsewhere/mv/after", 44);
    ns.fs.delete(path("/elsewhere/mv/m1"), false);
    ns.fs.delete(path("/snap2/out-in2"), false);
    ns.fs.rename(path("/elsewhere/mv/inner/m2"), path("/elsewhere/m2-escaped"));
    ns.fs.createSnapshot(path("/snap"), "short-lived");
    ns.write("/snap/after", 8);
    ns.fs.delete(path("/snap/new2"), false);
    ns.fs.deleteSnapshot(path("/snap"), "short-lived");
    ns.fs.renameSnapshot(path("/snap"), "s2", "s2-renamed");
    ns.fs.delete(path("/snap/q/qq"), false);
    ns.fs.setQuota(path("/snap/q"), 60, 2 << 20);
    ns.fs.createSnapshot(path("/snap"), "unicode-\u00fc snap");
    ns.write("/snap/created-deleted", 5);
    ns.fs.delete(path("/snap/created-deleted"), false);
    ns.mkdirs("/snap/new-dir");
    ns.write("/snap/new-dir/1", BLOCK);
  }

  private void deletedBelowQuota() throws IOException {
    ns.mkdirs("/sq/d");
    ns.write("/sq/d/f", 1000, 2);
    ns.fs.allowSnapshot(path("/sq"));
    ns.fs.createSnapshot(path("/sq"), "s");
    ns.fs.delete(path("/sq/d"), true);
    ns.fs.setQuota(path("/sq"), 100, 1 << 30);
  }
}
