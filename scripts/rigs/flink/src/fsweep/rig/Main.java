package fsweep.rig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** The verbs of the script "rig". The system property rig.work names an empty scratch directory. */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws IOException {
    int status = 1;
    try {
      List<String> names = Arrays.asList(args).subList(4, args.length);
      run(args[0], args[1], args[2], Long.parseLong(args[3]), names);
      status = 0;
    } catch (Exception | Error e) {
      e.printStackTrace();
    }
    System.out.flush();
    // Written elsewhere first: the script must not read half of it.
    Path said = Paths.get(System.getProperty("rig.work"), "status");
    Path half = said.resolveSibling("status.new");
    Files.write(half, Integer.toString(status).getBytes());
    Files.move(half, said);
    Runtime.getRuntime().halt(status);
  }

  private static void run(String verb, String version, String out, long seed, List<String> names)
      throws Exception {
    Map<String, Case> cases = new LinkedHashMap<>();
    for (Case c : Cases.all(version)) {
      cases.put(c.name, c);
    }
    if (verb.equals("cases")) {
      cases.keySet().forEach(System.out::println);
      return;
    }
    for (String name : names) {
      if (!cases.containsKey(name)) {
        throw new IllegalArgumentException("no case " + name + " for Flink " + version);
      }
    }
    if (!names.isEmpty()) {
      cases.keySet().retainAll(names);
    }
    System.out.printf("Flink %s, seed %d%n", version, seed);
    Path root = Paths.get(out);
    Path work = Paths.get(System.getProperty("rig.work"));
    for (boolean memoryChangelog : new boolean[] {false, true}) {
      List<Case> some =
          cases.values().stream()
              .filter(c -> c.memoryChangelog == memoryChangelog)
              .collect(Collectors.toList());
      if (some.isEmpty()) {
        continue;
      }
      try (Cluster cluster = new Cluster(root, work, memoryChangelog)) {
        for (Case c : some) {
          long began = System.nanoTime();
          // Of the name too: a case alone makes what it makes among the others.
          c.run(cluster, root.resolve(c.name), new Random(seed * 31 + c.name.hashCode()));
          System.out.printf("%s: %.1f s%n", c.name, (System.nanoTime() - began) / 1e9);
        }
      }
    }
    writeTruth(root, cases.keySet());
  }

  private static void writeTruth(Path root, Iterable<String> names) throws Exception {
    ObjectMapper json = new ObjectMapper();
    List<String> lines = new ArrayList<>();
    for (String name : names) {
      for (Path file : find(root.resolve(name))) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("case", name);
        record.put("file", root.relativize(file).toString());
        record.putAll(Truth.of(file));
        lines.add(json.writeValueAsString(record));
      }
    }
    Files.write(root.resolve("truth.jsonl"), lines);
  }

  private static List<Path> find(Path dir) throws IOException {
    try (Stream<Path> all = Files.walk(dir)) {
      return all.filter(f -> Truth.isMetadata(f) || Truth.isPointer(f))
          .sorted()
          .collect(Collectors.toList());
    }
  }
}
