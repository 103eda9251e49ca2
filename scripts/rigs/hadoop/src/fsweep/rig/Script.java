package fsweep.rig;

import static fsweep.rig.Namespace.path;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.server.namenode.NameNodePeek;

/**
 * Carries out a file of operations, one a line: a word and its arguments, separated by blanks.
 * Arguments are decoded like those of a URL, so that a name can have blanks (%20). An operation that
 * fails ends the rig, unless the line starts with the word "try".
 */
final class Script {
  private final Namespace ns;
  private final File out;

  Script(Namespace ns, File out) {
    this.ns = ns;
    this.out = out;
  }

  void run(File file) throws Exception {
    Files.createDirectories(out.toPath());
    int number = 0;
    for (String line : Files.readAllLines(file.toPath())) {
      number++;
      if (line.trim().isEmpty() || line.startsWith("#")) {
        continue;
      }
      List<String> words = new ArrayList<>();
      for (String w : line.trim().split(" +")) {
        words.add(URLDecoder.decode(w.replace("+", "%2B"), "UTF-8"));
      }
      boolean mayFail = words.get(0).equals("try");
      if (mayFail) {
        words.remove(0);
      }
      try {
        operation(words.get(0), words.subList(1, words.size()));
      } catch (Exception e) {
        if (mayFail) {
          System.err.println("rig: refused: " + line + ": " + e);
          continue;
        }
        throw new IOException("line " + number + ": " + line, e);
      }
    }
  }

  private void operation(String verb, List<String> a) throws Exception {
    Path p = a.get(0).startsWith("/") ? path(a.get(0)) : null;
    switch (verb) {
      case "mkdir":
        ns.mkdirs(a.get(0));
        break;
      case "write": // PATH BYTES [REPLICATION]
        ns.write(a.get(0), number(a, 1), a.size() > 2 ? number(a, 2) : 1);
        break;
      case "striped": // PATH BYTES POLICY; the first of a run may need "erasure on"
        try (OutputStream o = ns.hadoop3.createStriped(ns, a.get(0), a.get(2))) {
          o.write(new byte[number(a, 1)]);
        }
        break;
      case "erasure": // on
        ns.hadoop3.enableErasureCoding(ns);
        break;
      case "append": // PATH BYTES
        ns.append(a.get(0), number(a, 1));
        break;
      case "truncate": // PATH BYTES
        ns.fs.truncate(p, number(a, 1));
        ns.waitUntilClosed(a.get(0));
        break;
      case "delete":
        done(ns.fs.delete(p, true));
        break;
      case "rename": // FROM TO, which must not exist
        ns.fs.rename(p, path(a.get(1)), Rename.NONE);
        break;
      case "replication": // PATH REPLICATION
        done(ns.fs.setReplication(p, (short) number(a, 1)));
        break;
      case "times": // PATH MTIME ATIME
        ns.fs.setTimes(p, Long.parseLong(a.get(1)), Long.parseLong(a.get(2)));
        break;
      case "policy": // PATH NAME
        ns.fs.setStoragePolicy(p, a.get(1));
        break;
      case "quota": // PATH INODES BYTES
        ns.fs.setQuota(p, Long.parseLong(a.get(1)), Long.parseLong(a.get(2)));
        break;
      case "typequota": // PATH TYPE BYTES
        ns.fs.setQuotaByStorageType(p, StorageType.valueOf(a.get(1)), Long.parseLong(a.get(2)));
        break;
      case "allow":
        ns.fs.allowSnapshot(p);
        break;
      case "snapshot": // PATH NAME
        ns.fs.createSnapshot(p, a.get(1));
        break;
      case "unsnapshot": // PATH NAME
        ns.fs.deleteSnapshot(p, a.get(1));
        break;
      case "save": // NAME: OUT/NAME/fsimage_N and what belongs to it
        Images.save(ns, new File(out, a.get(0)), "plain");
        ns.fs.setSafeMode(SafeModeAction.SAFEMODE_LEAVE);
        break;
      case "ask": // NAME: OUT/NAME/quota.jsonl and so on; see Truth
        new Truth(ns).write(new File(out, a.get(0)));
        blocks(new File(out, a.get(0)));
        break;
      case "blocks": // NAME: OUT/NAME/blocks.json alone
        blocks(new File(out, a.get(0)));
        break;
      default:
        throw new IllegalArgumentException(verb);
    }
  }

  /** Blocks of deleted files are removed by a thread of their own: waits for it first. */
  private void blocks(File dir) throws Exception {
    String last = "";
    for (int same = 0; same < 12; ) {
      String now = NameNodePeek.allBlocks(ns.nameNode);
      same = now.equals(last) ? same + 1 : 0;
      last = now;
      Thread.sleep(100);
    }
    Files.createDirectories(dir.toPath());
    try (PrintWriter w = new PrintWriter(new File(dir, "blocks.json"), "US-ASCII")) {
      w.println(last);
    }
  }

  private static int number(List<String> a, int i) {
    return Integer.parseInt(a.get(i));
  }

  private static void done(boolean ok) throws IOException {
    if (!ok) {
      throw new IOException("refused");
    }
  }
}
