package fsweep.rig;

import java.io.OutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.runtime.checkpoint.MasterTriggerRestoreHook;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.runtime.state.OperatorStateCheckpointOutputStream;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.checkpoint.WithMasterCheckpointHook;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.Collector;

/** The steps of the job. */
final class Functions {
  private Functions() {}

  /** Operator state of all three modes, and state of the JobManager's own. */
  static final class Source extends RichMapFunction<Long, Long>
      implements CheckpointedFunction, WithMasterCheckpointHook<String> {
    private final Pause pause;
    private final boolean firstOnly;
    private final String list;
    private final String union;
    private final String broadcast;
    private final String master;
    private final long seed;
    private transient ListState<Long> ofList;
    private transient ListState<byte[]> ofUnion;
    private transient BroadcastState<Long, String> ofBroadcast;

    Source(
        Pause pause,
        boolean firstOnly,
        String list,
        String union,
        String broadcast,
        String master,
        long seed) {
      this.pause = pause;
      this.firstOnly = firstOnly;
      this.list = list;
      this.union = union;
      this.broadcast = broadcast;
      this.master = master;
      this.seed = seed;
    }

    @Override
    public Long map(Long v) throws Exception {
      int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
      if (pause != null && !(firstOnly && task > 0)) {
        pause.record();
      }
      return v;
    }

    @Override
    public void initializeState(FunctionInitializationContext c) throws Exception {
      OperatorStateStore s = c.getOperatorStateStore();
      ofList = s.getListState(new ListStateDescriptor<>(list, Types.LONG));
      if (!firstOnly) { // Flink has no checkpoint of union state where some tasks have finished.
        ofUnion =
            s.getUnionListState(
                new ListStateDescriptor<>(
                    union, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
      }
      ofBroadcast =
          s.getBroadcastState(new MapStateDescriptor<>(broadcast, Types.LONG, Types.STRING));
    }

    @Override
    public void snapshotState(FunctionSnapshotContext c) throws Exception {
      Random r = new Random(seed + c.getCheckpointId());
      ofList.update(List.of(c.getCheckpointId(), r.nextLong()));
      if (ofUnion != null) {
        byte[] bytes = new byte[r.nextInt(3000)];
        r.nextBytes(bytes);
        ofUnion.update(List.of(bytes));
      }
      ofBroadcast.put(c.getCheckpointId(), broadcast);
    }

    @Override
    public MasterTriggerRestoreHook<String> createMasterTriggerRestoreHook() {
      return new Hook(master);
    }
  }

  private static final class Hook
      implements MasterTriggerRestoreHook<String>, SimpleVersionedSerializer<String> {
    private final String name;

    Hook(String name) {
      this.name = name;
    }

    @Override
    public String getIdentifier() {
      return name;
    }

    @Override
    public CompletableFuture<String> triggerCheckpoint(long id, long time, Executor executor) {
      return CompletableFuture.completedFuture(name + id);
    }

    @Override
    public void restoreCheckpoint(long id, String state) {}

    @Override
    public SimpleVersionedSerializer<String> createCheckpointDataSerializer() {
      return this;
    }

    @Override
    public int getVersion() {
      return 77;
    }

    @Override
    public byte[] serialize(String s) {
      return s.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String deserialize(int version, byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  /** Keyed state with timers. */
  static final class Keyed extends KeyedProcessFunction<Long, Long, Long> {
    private final String counter;
    private final int valueBytes;
    private transient ValueState<byte[]> value;
    private transient MapState<Long, Long> map;
    private transient Random random;

    Keyed(String counter, int valueBytes) {
      this.counter = counter;
      this.valueBytes = valueBytes;
    }

    @Override
    public void processElement(Long v, Context c, Collector<Long> out) throws Exception {
      if (value == null) { // not in open, whose parameter differs between the lines of Flink
        random = new Random(v);
        value =
            getRuntimeContext()
                .getState(
                    new ValueStateDescriptor<>(
                        "value €", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
        map =
            getRuntimeContext()
                .getMapState(new MapStateDescriptor<>("map", Types.LONG, Types.LONG));
      }
      byte[] bytes = new byte[valueBytes];
      random.nextBytes(bytes);
      value.update(bytes);
      map.put(v % 3, v);
      c.timerService().registerProcessingTimeTimer(Long.MAX_VALUE - v % 3);
      Job.processed(counter).incrementAndGet();
      out.collect(v);
    }
  }

  /** Raw operator state. */
  static final class Raw extends AbstractStreamOperator<Long>
      implements OneInputStreamOperator<Long, Long> {
    @Override
    public void processElement(StreamRecord<Long> r) {
      output.collect(r);
    }

    @Override
    public void snapshotState(StateSnapshotContext c) throws Exception {
      super.snapshotState(c);
      OperatorStateCheckpointOutputStream out = c.getRawOperatorStateOutput();
      out.startNewPartition();
      ((OutputStream) out).write(new byte[100]);
    }
  }

  /** Makes records take their time. */
  static final class Pause implements Serializable {
    private final int milliseconds;
    private final int every;
    private int records;

    /** On a busy machine each sleep is long; there must not be one for each record. */
    Pause(int milliseconds, int every) {
      this.milliseconds = milliseconds;
      this.every = every;
    }

    void record() throws InterruptedException {
      if (++records % every == 0) {
        Thread.sleep(milliseconds);
      }
    }
  }

  static final class Slow implements MapFunction<Long, Long> {
    private final Pause pause = new Pause(20, 16);

    @Override
    public Long map(Long v) throws Exception {
      pause.record();
      return v;
    }
  }
}
