package fsweep.rig;

import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** A job with state of every kind; its runs differ in nothing but their ids. */
final class Job {
  private static final Map<String, AtomicLong> PROCESSED = new ConcurrentHashMap<>();
  private static final long ENDLESS = Long.MAX_VALUE - 1;

  int parallelism;

  /** Whether the source takes all the records it can. */
  boolean fast;

  /** Whether the end of the job cannot keep up with its source. */
  boolean slow;

  /** Whether one task of the source and all of a second one come to an end. */
  boolean finishing;

  /** Whether keyed state is asked for asynchronously (Flink 2). */
  boolean async;

  private final String counter;
  private final Random random;
  private final long keys;
  private final int valueBytes;
  private final String[] names = new String[32];
  private int name;

  Job(String counter, Random random) {
    this.counter = counter;
    this.random = random;
    parallelism = 1 + random.nextInt(2);
    keys = 20 + random.nextInt(300);
    valueBytes = 20 + random.nextInt(400);
    for (int i = 0; i < names.length; i++) {
      names[i] = Names.any(random);
    }
  }

  AtomicLong processed() {
    return processed(counter);
  }

  /** Records that arrived at keyed state. The tasks run in this JVM. */
  static AtomicLong processed(String counter) {
    return PROCESSED.computeIfAbsent(counter, k -> new AtomicLong());
  }

  JobGraph graph(Configuration conf) throws Exception {
    name = 0;
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf);
    env.setParallelism(parallelism);
    env.setMaxParallelism(16);

    // A few thousand records for each task of a source that is to finish.
    long bound = finishing ? 2000L * parallelism : ENDLESS;
    DataStream<Long> in =
        named(
            named(env.fromSequence(0, bound))
                .map(
                    new Functions.Source(
                        pause(), finishing, next(), next(), next(), next(), random.nextLong()))
                .returns(Types.LONG));
    DataStream<Long> out = keyed(in.rebalance());
    out = named(out.transform("raw", Types.LONG, new Functions.Raw()));
    if (slow) {
      out = named(out.rebalance().map(new Functions.Slow()).returns(Types.LONG));
    }
    named(out.sinkTo(new DiscardingSink<>()));
    if (finishing) {
      DataStream<Long> few = named(env.fromSequence(0, 9));
      named(keyed(few).sinkTo(new DiscardingSink<>()));
    }

    JobGraph graph = env.getStreamGraph().getJobGraph();
    graph.setJobID(new JobID(random.nextLong(), random.nextLong()));
    return graph;
  }

  private Functions.Pause pause() {
    if (finishing) {
      return new Functions.Pause(10, 1);
    }
    return fast ? null : new Functions.Pause(10, 16);
  }

  private DataStream<Long> keyed(DataStream<Long> in) throws Exception {
    // Asynchronous requests for one key wait for each other, up to a second.
    long n = async ? 20 * keys : keys;
    KeyedStream<Long, Long> by = in.keyBy(v -> v % n, Types.LONG);
    if (async) { // a class that only Flink 2 compiles
      return named(
          (SingleOutputStreamOperator<Long>)
              Class.forName("fsweep.rig.AsyncKeyed")
                  .getMethod("apply", KeyedStream.class, String.class, int.class)
                  .invoke(null, by, counter, valueBytes));
    }
    return named(by.process(new Functions.Keyed(counter, valueBytes)).returns(Types.LONG));
  }

  private String next() {
    return names[name++];
  }

  private SingleOutputStreamOperator<Long> named(SingleOutputStreamOperator<Long> s) {
    return s.name(next()).uid(next());
  }

  private void named(DataStreamSink<Long> s) {
    s.name(next()).uid(next());
  }
}
