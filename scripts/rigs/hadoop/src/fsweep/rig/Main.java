package fsweep.rig;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.namenode.EditLogFileOutputStream;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;

/** The verbs of the script "rig". The system property rig.work names an empty scratch directory. */
public final class Main {
  /** The exit status of the process then. */
  private static final int REFUSED_ITSELF = 3;

  private Main() {}

  public static void main(String[] args) throws Exception {
    int status = 1;
    try {
      run(args);
      status = 0;
    } catch (Exception | Error e) {
      e.printStackTrace();
      status = refusedItself(e) ? REFUSED_ITSELF : 1;
    }
    // Not exit: its hooks wait for streams that are open on purpose.
    Runtime.getRuntime().halt(status);
  }

  /**
   * Tells whether the NameNode found its own namespace damaged and would not save it, which some
   * orders of snapshots, renames and deletions do to it.
   */
  private static boolean refusedItself(Throwable e) {
    for (; e != null; e = e.getCause()) {
      if (e.toString().contains("org.apache.hadoop.util.ExitUtil$ExitException")) {
        return true;
      }
    }
    return false;
  }

  private static void run(String[] args) throws Exception {
    String verb = args[0];
    String version = args[1];
    File work = new File(System.getProperty("rig.work"));
    switch (verb) {
      case "make":
        make(version, work, Long.parseLong(args[2]), Integer.parseInt(args[3]), new File(args[4]));
        break;
      case "truth":
        for (int i = 2; i < args.length; i += 2) {
          File out = new File(args[i + 1]);
          ask(version, work, new File(args[i]), false, truth -> truth.write(out));
        }
        break;
      case "upgrade":
        ask(version, work, new File(args[2]), true, truth -> truth.write(new File(args[3])));
        break;
      case "sums":
        List<String> paths = Files.readAllLines(Paths.get(args[4]));
        File sums = new File(args[3]);
        // It says whether it loads in parallel; when it cannot, it says nothing else.
        Logger.getLogger("org.apache.hadoop.hdfs.server.namenode.FSImageFormatProtobuf")
            .setLevel(Level.INFO);
        ask(version, work, new File(args[2]), false, truth -> truth.writeSums(sums, paths));
        break;
      case "script":
        script(version, work, args);
        break;
      case "serve":
        Serve.run(version, Arrays.asList(args).subList(2, args.length));
        break;
      case "view":
        for (int i = 2; i < args.length; i++) {
          Viewer.xml(new File(args[i]));
        }
        break;
      default:
        throw new IllegalArgumentException(verb);
    }
  }

  /** Makes a namespace with every feature, changes it at random, saves it in several forms. */
  private static void make(String version, File work, long seed, int operations, File out)
      throws Exception {
    Random random = new Random(seed);
    // A snapshot of an open file holds its length then, or its length at the end.
    boolean captureOpenFiles = random.nextBoolean();
    Namespace[] started = new Namespace[1];
    Namespace.step(
        "start",
        () ->
            started[0] =
                new Namespace(Cluster.empty(work, captureOpenFiles), Hadoop3.load(version)));
    Namespace ns = started[0];
    new Features(ns).make();
    new SnapshotFeatures(ns).make();
    Namespace.step("random", () -> new RandomOperations(ns, random, seed).run(operations));
    Namespace.step("raw names", () -> Features.rawNames(ns));
    List<String> variants = Images.variants(version, seed);
    for (String variant : variants) {
      Namespace.step("save " + variant, () -> Images.save(ns, out, variant));
    }
  }

  /** In an empty namespace, or in that of an image: then there are no DataNodes. */
  private static void script(String version, File work, String[] args) throws Exception {
    EditLogFileOutputStream.setShouldSkipFsyncForTesting(true);
    MiniDFSCluster cluster =
        args.length > 4
            ? Cluster.fromImage(
                new File(work, "image"), Images.newest(new File(args[4])), false)
            : Cluster.empty(work, false);
    new Script(new Namespace(cluster, Hadoop3.load(version)), new File(args[3]))
        .run(new File(args[2]));
  }

  private interface Questions {
    void ask(Truth truth) throws IOException;
  }

  /** Asks a NameNode that was started from exactly this image. */
  private static void ask(
      String version, File work, File dir, boolean upgrade, Questions questions) throws Exception {
    File scratch = Files.createTempDirectory(work.toPath(), "image").toFile();
    MiniDFSCluster[] started = new MiniDFSCluster[1];
    Namespace.step(
        "load " + dir,
        () -> started[0] = Cluster.fromImage(scratch, Images.newest(dir), upgrade));
    Namespace.step(
        "ask about " + dir,
        () -> {
          questions.ask(new Truth(new Namespace(started[0], Hadoop3.load(version))));
          started[0].shutdown();
        });
    FileUtil.fullyDelete(scratch);
  }
}
