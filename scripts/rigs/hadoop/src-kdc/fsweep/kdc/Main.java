package fsweep.kdc;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.hadoop.minikdc.MiniKdc;
import org.apache.kerby.kerberos.kerb.client.KrbClient;
import org.apache.kerby.kerberos.kerb.type.ticket.TgtTicket;

/**
 * A Kerberos server that lives as long as its standard input. ARGS: a directory of its own, the
 * port (on 127.0.0.1, TCP), the realm (two words and a dot). It is told what to do as Serve is, and
 * answers likewise; the first line is "READY PORT 0".
 */
public final class Main {
  private final File dir;
  private final Properties conf = MiniKdc.createConf();
  private MiniKdc kdc;

  private Main(String[] args) {
    dir = new File(args[0]).getAbsoluteFile();
    String[] realm = args[2].split("\\.");
    conf.setProperty(MiniKdc.KDC_BIND_ADDRESS, "127.0.0.1");
    conf.setProperty(MiniKdc.KDC_PORT, args[1]);
    conf.setProperty(MiniKdc.MIN_TICKET_LIFETIME, "1"); // tests want short ones
    conf.setProperty(MiniKdc.ORG_NAME, realm[0]);
    conf.setProperty(MiniKdc.ORG_DOMAIN, realm[1]);
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // what libraries print must not be taken for an answer
    int status = 1;
    try {
      Main main = new Main(args);
      main.kdc = new MiniKdc(main.conf, main.dir);
      main.kdc.start();
      out.println("READY " + main.kdc.getPort() + " 0");
      out.flush();
      main.answer(out);
      status = 0;
    } catch (Exception | Error e) {
      e.printStackTrace();
    }
    Runtime.getRuntime().halt(status);
  }

  private void answer(PrintStream out) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      List<String> words = new ArrayList<>();
      for (String w : line.split(" ", -1)) {
        words.add(URLDecoder.decode(w, "UTF-8"));
      }
      String answer;
      try {
        carryOut(words.get(0), words.subList(1, words.size()));
        answer = "OK ";
      } catch (Exception | Error e) {
        answer = "ERR " + URLEncoder.encode(e.toString(), "UTF-8");
      }
      out.println(answer);
      out.flush();
    }
  }

  private void carryOut(String verb, List<String> a) throws Exception {
    switch (verb) {
      case "keytab": // FILE PRINCIPAL...; new principals with keys of their own
        kdc.createPrincipal(
            new File(a.get(0)), a.subList(1, a.size()).toArray(new String[0]));
        return;
      case "password": // PRINCIPAL PASSWORD: a new principal
        kdc.createPrincipal(a.get(0), a.get(1));
        return;
      case "kinit": // CACHE PRINCIPAL KEYTAB CONFIGURATION-DIRECTORY: log in, and keep the ticket
        KrbClient client = new KrbClient(new File(a.get(3)));
        client.init();
        TgtTicket tgt = client.requestTgt(a.get(1), new File(a.get(2)));
        client.storeTicket(tgt, new File(a.get(0)));
        return;
      default:
        throw new IllegalArgumentException("no such command: " + verb);
    }
  }
}
