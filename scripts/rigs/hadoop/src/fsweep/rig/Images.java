package fsweep.rig;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.server.namenode.NameNodePeek;

/** Saves a namespace as images of several kinds, each in a directory of its own. */
final class Images {
  private static final String PLAIN = "plain";
  private static final String PARALLEL = "parallel";
  private static final String CODECS = "org.apache.hadoop.io.compress.";

  private Images() {}

  /** One plain image, one with a codec that the seed chooses, one with sub-sections. */
  static List<String> variants(String version, long seed) throws ClassNotFoundException {
    List<String> codecs =
        new ArrayList<>(Arrays.asList("DefaultCodec", "DeflateCodec", "GzipCodec", "BZip2Codec"));
    if (version.startsWith("3.4.") || version.startsWith("3.5.")) {
      codecs.addAll(Arrays.asList("Lz4Codec", "SnappyCodec")); // native code in older lines
    }
    List<String> variants = new ArrayList<>();
    variants.add(PLAIN);
    variants.add(codecs.get(new Random(seed).nextInt(codecs.size())));
    if (initParallelLoad() != null) {
      variants.add(PARALLEL);
    }
    return variants;
  }

  /** Saves OUT/VARIANT/{fsimage_N, fsimage_N.md5, VERSION}; PLAIN, PARALLEL, or a codec's name. */
  static void save(Namespace ns, File out, String variant) throws Exception {
    boolean parallel = variant.equals(PARALLEL);
    boolean compress = !parallel && !variant.equals(PLAIN);
    Configuration c = NameNodePeek.imageConfiguration(ns.nameNode);
    c.setBoolean("dfs.image.compress", compress);
    if (compress) {
      c.set("dfs.image.compression.codec", CODECS + variant);
    }
    c.setBoolean("dfs.image.parallel.load", parallel);
    c.setInt("dfs.image.parallel.inode.threshold", 10);
    c.setInt("dfs.image.parallel.target.sections", 4);
    Method initParallelLoad = initParallelLoad();
    if (initParallelLoad != null) {
      initParallelLoad.invoke(null, c);
    }
    ns.fs.setSafeMode(SafeModeAction.SAFEMODE_ENTER);
    ns.fs.saveNamespace();

    File current = new File(ns.cluster.getNameDirs(0).iterator().next().getPath(), "current");
    File image = newest(current);
    File dir = new File(out, variant);
    Files.createDirectories(dir.toPath());
    for (String name : new String[] {image.getName(), image.getName() + ".md5", "VERSION"}) {
      Files.copy(
          new File(current, name).toPath(),
          new File(dir, name).toPath(),
          StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** The NameNode reads the switch at its start only, so it is told. Older lines have none. */
  private static Method initParallelLoad() throws ClassNotFoundException {
    Class<?> format = Class.forName("org.apache.hadoop.hdfs.server.namenode.FSImageFormatProtobuf");
    try {
      return format.getMethod("initParallelLoad", Configuration.class);
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  static File newest(File dir) throws IOException {
    File newest = null;
    File[] files = dir.listFiles();
    for (File f : files == null ? new File[0] : files) {
      if (f.getName().matches("fsimage_\\d+")
          && (newest == null || f.getName().compareTo(newest.getName()) > 0)) {
        newest = f;
      }
    }
    if (newest == null) {
      throw new FileNotFoundException("no fsimage_N in " + dir);
    }
    return newest;
  }

  static long txid(File image) {
    return Long.parseLong(image.getName().substring("fsimage_".length()));
  }
}
