package fsweep.rig;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.key.KeyProvider;
import org.apache.hadoop.crypto.key.KeyProviderFactory;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.HdfsConfiguration;

/**
 * What the verb serve was told, and the configurations that follow from it. Names with a dot are
 * Hadoop's own and override what stands here.
 */
final class Settings {
  static final String KEY = "key1";

  /** What clients and servers must agree on. */
  private static final List<String> SECURITY =
      List.of(
          "hadoop.security.",
          "hadoop.rpc.protection",
          "dfs.namenode.kerberos.principal",
          "dfs.data.transfer.protection",
          "dfs.encrypt.data.transfer");

  final String version;
  private final File dir;
  private final Map<String, String> own = new LinkedHashMap<>();
  private final Map<String, String> hadoop = new LinkedHashMap<>();

  Settings(String version, List<String> args) {
    this.version = version;
    this.dir = new File(args.get(0)).getAbsoluteFile();
    for (String arg : args.subList(1, args.size())) {
      String[] kv = arg.split("=", 2);
      if (kv.length != 2) {
        throw new IllegalArgumentException("not KEY=VALUE: " + arg);
      }
      (kv[0].contains(".") ? hadoop : own).put(kv[0], kv[1]);
    }
    for (String key : own.keySet()) {
      if (!List.of("namenode", "datanodes", "format").contains(key)) {
        throw new IllegalArgumentException("unknown: " + key);
      }
    }
  }

  /** The setting "namenode": its id, which names its files; "none" for a process without one. */
  private String id() {
    return own.getOrDefault("namenode", "nn1");
  }

  boolean hasNameNode() {
    return !id().equals("none");
  }

  int dataNodes() {
    return Integer.parseInt(own.getOrDefault("datanodes", "0"));
  }

  File auditLog() {
    return new File(dir, "audit-" + id() + ".log");
  }

  private File nameDirectory(String id) {
    return new File(dir, "name-" + id);
  }

  /**
   * Formats, if "format" lists ids, this one among them: all of them start from the same image.
   * Otherwise waits until the process that formats has done so.
   */
  void prepareNameDirectory() throws Exception {
    File own = nameDirectory(id());
    String format = this.own.get("format");
    if (format == null) {
      for (int i = 0; !own.exists(); i++) {
        if (i == 1200) {
          throw new FileNotFoundException(own + " was never formatted");
        }
        Thread.sleep(50);
      }
      return;
    }
    makeKey();
    DFSTestUtil.formatNameNode(nameNode());
    for (String id : format.split(",")) {
      if (!id.equals(id())) {
        File copy = nameDirectory(id + ".new");
        copy(own.toPath(), copy.toPath());
        // Whole at once, because its process waits for it.
        Files.move(copy.toPath(), nameDirectory(id).toPath(), StandardCopyOption.ATOMIC_MOVE);
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path p : (Iterable<Path>) all::iterator) {
        Files.copy(p, to.resolve(from.relativize(p).toString()));
      }
    }
  }

  private void makeKey() throws Exception {
    Configuration c = common();
    KeyProvider keys =
        KeyProviderFactory.get(new URI(c.get("hadoop.security.key.provider.path")), c);
    KeyProvider.Options o = new KeyProvider.Options(c);
    o.setBitLength(128);
    o.setCipher("AES/CTR/NoPadding");
    keys.createKey(KEY, o);
    keys.flush();
  }

  Configuration nameNode() {
    Configuration c = common();
    c.set("dfs.ha.namenode.id", id());
    c.set("dfs.namenode.name.dir", nameDirectory(id()).toURI().toString());
    return override(c);
  }

  /** The address is that of a NameNode in this process, or null. */
  Configuration dataNode(int number, InetSocketAddress nameNode) {
    Configuration c = common();
    c.set("dfs.datanode.data.dir", new File(dir, "data-" + number).toURI().toString());
    override(c);
    if (nameNode != null) {
      c.set("fs.defaultFS", uri(nameNode));
    }
    return c;
  }

  /** Of a client that talks to the NameNode of this process and to no other. */
  Configuration client() {
    Configuration c = common();
    c.set("fs.permissions.umask-mode", "000");
    // Before the server does so, which the client would take for an error.
    c.setInt("ipc.client.connection.maxidletime", 500);
    c.setInt("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", 10);
    c.setInt("dfs.client.block.write.locateFollowingBlock.retries", 12);
    hadoop.forEach(
        (key, value) -> {
          for (String prefix : SECURITY) {
            if (key.startsWith(prefix)) {
              c.set(key, value);
            }
          }
        });
    return c;
  }

  boolean kerberos() {
    return "kerberos".equals(hadoop.get("hadoop.security.authentication"));
  }

  /** Of a user, with Kerberos; whoever started the set has made it. */
  File keytab(String user) {
    return new File(dir, "keytabs/" + user + ".keytab");
  }

  static String uri(InetSocketAddress nameNode) {
    return "hdfs://127.0.0.1:" + nameNode.getPort();
  }

  private Configuration override(Configuration c) {
    hadoop.forEach(c::set);
    return c;
  }

  private Configuration common() {
    Configuration c = new HdfsConfiguration();
    c.set("fs.defaultFS", "hdfs://127.0.0.1:0");
    c.set("dfs.namenode.http-address", "127.0.0.1:0");
    for (String server : new String[] {"", ".http", ".ipc"}) {
      c.set("dfs.datanode" + server + ".address", "127.0.0.1:0");
    }
    c.set("dfs.datanode.hostname", "127.0.0.1");
    c.set("hadoop.security.group.mapping", OwnGroup.class.getName());
    c.set("dfs.permissions.superusergroup", "supergroup");
    c.setBoolean("dfs.namenode.acls.enabled", true);
    c.setBoolean("dfs.namenode.delegation.token.always-use", true);
    c.setInt("dfs.namenode.fs-limits.min-block-size", 512);
    c.setInt("dfs.namenode.fs-limits.max-xattrs-per-inode", 32);
    c.setBoolean("hadoop.caller.context.enabled", true);
    // So long that the emptier does nothing while tests run.
    c.setLong("fs.trash.interval", 525600);
    c.setInt("dfs.namenode.safemode.extension", 0);
    c.setBoolean("dfs.namenode.name.dir.restore", true);
    c.setInt("dfs.ha.tail-edits.period", 1);
    c.setInt("dfs.heartbeat.interval", 1);
    c.setInt("ipc.client.connect.max.retries", 1);
    c.setInt("dfs.client.failover.max.attempts", 4);
    c.setInt("dfs.datanode.directoryscan.interval", -1);
    String keys = "jceks://file" + new File(dir, "keys.jceks").getPath();
    c.set("hadoop.security.key.provider.path", keys);
    c.set("dfs.encryption.key.provider.uri", keys);
    return c;
  }
}
