package fsweep.rig;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.hdfs.tools.offlineImageViewer.OfflineImageViewerPB;

/** Hadoop's own offline viewer. */
final class Viewer {
  private Viewer() {}

  /** Writes DIR/oiv.xml of the image in DIR. */
  static void xml(File dir) throws Exception {
    String image = Images.newest(dir).getPath();
    String out = new File(dir, "oiv.xml").getPath();
    int status = OfflineImageViewerPB.run(new String[] {"-p", "XML", "-i", image, "-o", out});
    if (status != 0) {
      throw new IOException("oiv: status " + status + " for " + image);
    }
  }
}
