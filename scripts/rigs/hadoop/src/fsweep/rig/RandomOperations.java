package fsweep.rig;

import static fsweep.rig.Namespace.BLOCK;
import static fsweep.rig.Namespace.acl;
import static fsweep.rig.Namespace.path;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;

/**
 * Random operations of a seed on directories of their own and on those that the other steps made.
 * The NameNode refuses many of them (a file that is gone, a quota, a policy): that is expected, and
 * counted.
 */
final class RandomOperations {
  private static final String[] POLICIES = {
    "HOT", "WARM", "COLD", "ONE_SSD", "ALL_SSD", "LAZY_PERSIST",
  };

  private final Namespace ns;
  private final Random random;
  private final String top;
  private final List<String> dirs = new ArrayList<>();
  private final List<String> files = new ArrayList<>(Collections.singletonList("/none"));
  private final List<String> roots = new ArrayList<>();
  private final List<String[]> snapshots = new ArrayList<>(); // root, name
  private final List<Operation> operations = new ArrayList<>(); // each as often as its weight
  private int names;

  private static final class Operation {
    final String name;
    final Namespace.Step step;

    Operation(String name, Namespace.Step step) {
      this.name = name;
      this.step = step;
    }
  }

  RandomOperations(Namespace ns, Random random, long seed) {
    this.ns = ns;
    this.random = random;
    this.top = "/random-" + Long.toUnsignedString(seed, 36);
    add(10, "mkdir", this::mkdir);
    add(22, "create", this::create);
    add(2, "create open", this::createOpen);
    add(8, "append", () -> ns.append(file(), 1 + random.nextInt(1500)));
    add(5, "truncate", this::truncate);
    add(8, "delete", this::deleteFile);
    add(3, "delete directory", this::deleteDirectory);
    add(8, "rename", this::renameFile);
    add(8, "rename directory", this::renameDirectory);
    add(2, "rename over", this::renameOver);
    add(3, "concat", this::concat);
    add(4, "replication", () -> ns.fs.setReplication(path(file()), (short) (1 + random.nextInt(3))));
    add(3, "quota", this::quota);
    add(2, "type quota", this::typeQuota);
    add(3, "policy", () -> ns.fs.setStoragePolicy(path(anything()), oneOf(POLICIES)));
    add(6, "snapshot", this::snapshot);
    add(2, "delete snapshot", this::deleteSnapshot);
    add(1, "rename snapshot", this::renameSnapshot);
    add(2, "attributes", this::attributes);
    add(1, "times", () -> ns.fs.setTimes(path(file()), 1 + random.nextInt(1000), 5));
    add(1, "symlink", this::symlink);
    if (ns.hadoop3 != null) {
      add(4, "striped file", this::createStriped);
      add(1, "striped directory", this::stripedDirectory);
    }
  }

  private void add(int weight, String name, Namespace.Step step) {
    operations.addAll(Collections.nCopies(weight, new Operation(name, step)));
  }

  void run(int count) throws IOException {
    prepare();
    Map<String, Integer> done = new TreeMap<>();
    Map<String, Integer> refused = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      Operation o = operations.get(random.nextInt(operations.size()));
      try {
        o.step.run();
        done.merge(o.name, 1, Integer::sum);
      } catch (Exception e) {
        refused.merge(o.name + " (" + e.getClass().getSimpleName() + ")", 1, Integer::sum);
      }
    }
    System.err.println("rig: done " + done);
    System.err.println("rig: refused " + refused);
  }

  private void prepare() throws IOException {
    for (int i = 0; i < 6; i++) {
      String d = top + "/s" + i;
      ns.mkdirs(d);
      dirs.add(d);
      if (i < 4) {
        ns.fs.allowSnapshot(path(d));
        roots.add(d);
      }
    }
    roots.addAll(Arrays.asList("/snap", "/snap2"));
    dirs.addAll(
        Arrays.asList(
            "/snap", "/snap2", "/elsewhere", "/elsewhere/mv", "/quota/ns", "/policy/WARM",
            "/policy/ONE_SSD/sub"));
    files.addAll(Arrays.asList("/snap/b2", "/snap/c", "/snap/t", "/user/alice/multi"));
    if (ns.hadoop3 != null) {
      dirs.add("/ec");
    }
  }

  private void mkdir() throws IOException {
    String d = directory() + "/d" + random.nextInt(8);
    if (ns.fs.mkdirs(path(d)) && !dirs.contains(d)) {
      dirs.add(d);
    }
  }

  private void create() throws IOException {
    String f = newFile();
    int bytes = random.nextInt(3) == 0 ? BLOCK * random.nextInt(3) : random.nextInt(3500);
    ns.write(f, bytes, 1 + random.nextInt(3));
    remember(f);
  }

  private void createOpen() throws IOException {
    String f = newFile();
    FSDataOutputStream out = ns.create(f, 1 + random.nextInt(3));
    remember(f);
    ns.leaveOpen(out, random.nextInt(2500), random.nextInt(3) > 0);
  }

  private void createStriped() throws IOException {
    String f = newFile();
    List<String> policies = ns.hadoop3.policies();
    String policy = policies.get(random.nextInt(policies.size()));
    try (OutputStream out = ns.hadoop3.createStriped(ns, f, policy)) {
      out.write(new byte[random.nextInt(20_000)]);
    }
    remember(f);
  }

  private void stripedDirectory() throws IOException {
    List<String> policies = ns.hadoop3.policies();
    ns.hadoop3.setErasureCodingPolicy(
        ns, directory(), policies.get(random.nextInt(policies.size())));
  }

  /** To a block's end, or into a block: then the file is open until its replicas are cut. */
  private void truncate() throws IOException {
    String f = file();
    long length = ns.fs.getFileStatus(path(f)).getLen();
    long to = random.nextInt(4) == 0 ? length / 3 : length / 2 / BLOCK * BLOCK;
    ns.fs.truncate(path(f), to);
  }

  private void deleteFile() throws IOException {
    String f = file();
    if (ns.fs.delete(path(f), false)) {
      files.remove(f);
    }
  }

  private void deleteDirectory() throws IOException {
    String d = deepDirectory();
    if (ns.fs.delete(path(d), true)) {
      dirs.removeIf(x -> isAtOrBelow(x, d));
      files.removeIf(x -> isAtOrBelow(x, d));
    }
  }

  private void renameFile() throws IOException {
    String from = file();
    String to = newFile();
    if (!ns.fs.rename(path(from), path(to))) {
      throw new IOException("refused");
    }
    files.remove(from);
    remember(to);
  }

  private void renameDirectory() throws IOException {
    String from = deepDirectory();
    String to = directory() + "/d" + random.nextInt(8);
    if (ns.fs.exists(path(to)) || !ns.fs.rename(path(from), path(to))) {
      throw new IOException("refused");
    }
    for (List<String> list : Arrays.asList(dirs, files)) {
      list.replaceAll(x -> isAtOrBelow(x, from) ? to + x.substring(from.length()) : x);
    }
  }

  private void renameOver() throws IOException {
    String from = file();
    ns.fs.rename(path(from), path(file()), Rename.OVERWRITE);
    files.remove(from);
  }

  /** Only files of one directory, with the same replication, that no snapshot holds. */
  private void concat() throws IOException {
    String d = directory() + "/";
    List<String> siblings = new ArrayList<>(files);
    siblings.removeIf(f -> !f.startsWith(d) || f.indexOf('/', d.length()) >= 0);
    Collections.shuffle(siblings, random);
    if (siblings.size() < 2) {
      throw new IOException("refused");
    }
    ns.fs.concat(path(siblings.get(0)), new Path[] {path(siblings.get(1))});
    files.remove(siblings.get(1));
  }

  private void quota() throws IOException {
    long namespace = random.nextInt(4) == 0 ? HdfsConstants.QUOTA_RESET : 10_000;
    long space = random.nextInt(3) == 0 ? HdfsConstants.QUOTA_RESET : 1L << 40;
    ns.fs.setQuota(path(directory()), namespace, space);
  }

  private void typeQuota() throws IOException {
    List<StorageType> types = StorageType.getTypesSupportingQuota();
    StorageType type = types.get(random.nextInt(types.size()));
    long space = random.nextInt(3) == 0 ? HdfsConstants.QUOTA_RESET : 1L << 40;
    ns.fs.setQuotaByStorageType(path(directory()), type, space);
  }

  private void snapshot() throws IOException {
    String root = roots.get(random.nextInt(roots.size()));
    String name = "n" + names++;
    ns.fs.createSnapshot(path(root), name);
    snapshots.add(new String[] {root, name});
  }

  private void deleteSnapshot() throws IOException {
    String[] s = snapshots.remove(random.nextInt(Math.max(1, snapshots.size())));
    ns.fs.deleteSnapshot(path(s[0]), s[1]);
  }

  private void renameSnapshot() throws IOException {
    String[] s = snapshots.get(random.nextInt(Math.max(1, snapshots.size())));
    String name = "m" + names++;
    ns.fs.renameSnapshot(path(s[0]), s[1], name);
    s[1] = name;
  }

  private void attributes() throws IOException {
    Path p = path(anything());
    switch (random.nextInt(4)) {
      case 0:
        ns.fs.setPermission(p, new FsPermission((short) (0700 + random.nextInt(64))));
        break;
      case 1:
        ns.fs.setOwner(p, "user" + random.nextInt(5), "group" + random.nextInt(5));
        break;
      case 2:
        ns.fs.modifyAclEntries(p, acl("user:u" + random.nextInt(5) + ":rwx"));
        break;
      default:
        ns.fs.setXAttr(p, "user.x" + random.nextInt(3), new byte[random.nextInt(5)]);
    }
  }

  /** Not remembered: a link of a snapshot that is deleted itself makes an image no NameNode loads. */
  private void symlink() throws IOException {
    ns.fs.createSymlink(path(file()), path(newFile()), false);
  }

  private String directory() {
    return dirs.get(random.nextInt(dirs.size()));
  }

  /** A directory that random operations made, so not one of those that others count on. */
  private String deepDirectory() throws IOException {
    List<String> deep = new ArrayList<>(dirs);
    deep.removeIf(d -> d.split("/").length <= 3 || d.startsWith("/policy/"));
    if (deep.isEmpty()) {
      throw new IOException("refused");
    }
    return deep.get(random.nextInt(deep.size()));
  }

  private String file() {
    return files.get(random.nextInt(files.size()));
  }

  private String anything() {
    return random.nextBoolean() ? file() : directory();
  }

  private String newFile() {
    return directory() + "/f" + random.nextInt(12);
  }

  private String oneOf(String[] s) {
    return s[random.nextInt(s.length)];
  }

  private void remember(String f) {
    if (!files.contains(f)) {
      files.add(f);
    }
  }

  private static boolean isAtOrBelow(String p, String d) {
    return p.equals(d) || p.startsWith(d + "/");
  }
}
