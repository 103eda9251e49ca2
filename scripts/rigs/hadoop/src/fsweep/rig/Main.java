package fsweep.rig;

import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** The verbs of the script "rig". The system property rig.work names an empty scratch directory. */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws Exception {
    int status = 1;
    try {
      run(args);
      status = 0;
    } catch (Exception | Error e) {
      e.printStackTrace();
    }
    // Not exit: its hooks wait for streams that are open on purpose.
    Runtime.getRuntime().halt(status);
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
          truth(version, work, new File(args[i]), new File(args[i + 1]), false);
        }
        break;
      case "upgrade":
        truth(version, work, new File(args[2]), new File(args[3]), true);
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

  /** Writes down what a NameNode answers that was started from exactly this image. */
  private static void truth(String version, File work, File dir, File out, boolean upgrade)
      throws Exception {
    File scratch = Files.createTempDirectory(work.toPath(), "image").toFile();
    Namespace.step(
        "truth of " + dir,
        () -> {
          MiniDFSCluster cluster = Cluster.fromImage(scratch, Images.newest(dir), upgrade);
          new Truth(new Namespace(cluster, Hadoop3.load(version))).write(out);
          cluster.shutdown();
        });
    FileUtil.fullyDelete(scratch);
  }
}
