package fsweep.rig;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.ha.HAServiceProtocol.RequestSource;
import org.apache.hadoop.ha.HAServiceProtocol.StateChangeRequestInfo;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.EditLogFileOutputStream;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Servers that live as long as the standard input: a NameNode, DataNodes, or both. What the input
 * says is carried out, a line at a time: a word and its arguments, separated by single blanks and
 * encoded like parts of a URL, so that any name and any bytes fit. The answer is one line, "OK" or
 * "ERR" and a text that is encoded likewise. The first line says that all is up: "READY RPC-PORT
 * HTTP-PORT", both 0 without a NameNode.
 *
 * <p>Each NameNode of an HA set has a process of its own, so that one can be stopped by a signal.
 */
final class Serve {
  private final Settings settings;
  private final PrintStream out;
  private final List<DataNode> dataNodes = new ArrayList<>();
  private NameNode nameNode;
  private Admin admin;

  private Serve(Settings settings, PrintStream out) {
    this.settings = settings;
    this.out = out;
  }

  /** ARGS: the directory, then settings. Returns when the input ends. */
  static void run(String version, List<String> args) throws Exception {
    // What libraries print must not be taken for an answer.
    PrintStream out = System.out;
    System.setOut(System.err);
    EditLogFileOutputStream.setShouldSkipFsyncForTesting(true);
    DefaultMetricsSystem.setMiniClusterMode(true); // several DataNodes in one process
    FileSystem.enableSymlinks();
    Serve serve = new Serve(new Settings(version, args), out);
    serve.start();
    serve.answer();
  }

  private void start() throws Exception {
    if (settings.kerberos()) { // before anything asks who the user of the process is
      Configuration c = settings.nameNode();
      UserGroupInformation.setConfiguration(c);
      UserGroupInformation.loginUserFromKeytab(
          c.get("dfs.namenode.kerberos.principal"), c.get("dfs.namenode.keytab.file"));
    }
    if (settings.hasNameNode()) {
      settings.prepareNameDirectory();
      AuditLog.to(settings.auditLog());
      startNameNode();
    }
    for (int i = 0; i < settings.dataNodes(); i++) {
      DataNode d =
          DataNode.instantiateDataNode(new String[0], settings.dataNode(i, rpcAddress()));
      d.runDatanodeDaemon();
      dataNodes.add(d);
    }
    if (nameNode == null) {
      out.println("READY 0 0");
    } else {
      if (settings.dataNodes() > 0) {
        awaitDataNodes(settings.dataNodes());
      }
      out.println("READY " + rpcAddress().getPort() + " " + nameNode.getHttpAddress().getPort());
    }
    out.flush();
  }

  private void startNameNode() throws IOException {
    nameNode = NameNode.createNameNode(new String[0], settings.nameNode());
    admin = null;
  }

  private InetSocketAddress rpcAddress() {
    return nameNode == null ? null : nameNode.getNameNodeAddress();
  }

  private void answer() throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      List<String> words = new ArrayList<>();
      for (String w : line.split(" ", -1)) {
        words.add(URLDecoder.decode(w, "UTF-8"));
      }
      String answer;
      try {
        String result = carryOut(words.get(0), words.subList(1, words.size()));
        answer = "OK " + URLEncoder.encode(result, "UTF-8");
      } catch (Exception | Error e) {
        answer = "ERR " + URLEncoder.encode(e.toString(), "UTF-8");
      }
      out.println(answer);
      out.flush();
    }
  }

  private String carryOut(String verb, List<String> args) throws Exception {
    StateChangeRequestInfo forced =
        new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER_FORCED);
    switch (verb) {
      case "active":
        nameNode.getRpcServer().transitionToActive(forced);
        return "";
      case "standby":
        nameNode.getRpcServer().transitionToStandby(forced);
        return "";
      case "observer":
        nameNode.getRpcServer().transitionToObserver(forced);
        return "";
      case "stop": // the NameNode, not the process
        nameNode.stop();
        nameNode.join();
        return "";
      case "start": // after stop, on the same ports
        startNameNode();
        return "";
      case "await-datanodes": // COUNT
        awaitDataNodes(Integer.parseInt(args.get(0)));
        return "";
      case "stop-datanode": // NUMBER, as kill would
        dataNodes.get(Integer.parseInt(args.get(0))).shutdown();
        return "";
      case "reconfigure": // KEY VALUE
        nameNode.reconfigureProperty(args.get(0), args.get(1));
        return "";
      default:
        if (admin == null) {
          admin = new Admin(settings, rpcAddress());
        }
        return admin.carryOut(verb, args);
    }
  }

  private void awaitDataNodes(int n) throws Exception {
    for (int i = 0; nameNode.getNamesystem().getNumLiveDataNodes() < n; i++) {
      if (i == 1200) {
        throw new IOException("no " + n + " DataNodes");
      }
      Thread.sleep(50);
    }
  }
}
