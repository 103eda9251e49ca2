package fsweep.rig;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.hdfs.server.namenode.FSNamesystem;
import org.apache.log4j.FileAppender;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;

/** What NameNodes of this process were asked, as they write it down themselves. */
final class AuditLog {
  private AuditLog() {}

  /** Appends to a file; a line is there before the caller of the NameNode has its answer. */
  static void to(File file) throws IOException {
    Logger log = Logger.getLogger(FSNamesystem.class.getName() + ".audit");
    log.setLevel(Level.INFO);
    log.setAdditivity(false);
    log.addAppender(new FileAppender(new PatternLayout("%m%n"), file.getPath(), true));
  }
}
