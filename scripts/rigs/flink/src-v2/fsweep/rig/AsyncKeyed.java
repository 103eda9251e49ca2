package fsweep.rig;

import java.util.Random;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.v2.ValueState;
import org.apache.flink.api.common.state.v2.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Keyed state through the asynchronous interface, which alone makes ForSt work in its own way. */
public final class AsyncKeyed extends KeyedProcessFunction<Long, Long, Long> {
  private final String counter;
  private final int valueBytes;
  private transient ValueState<byte[]> value;
  private transient Random random;

  private AsyncKeyed(String counter, int valueBytes) {
    this.counter = counter;
    this.valueBytes = valueBytes;
  }

  /** Called by name. */
  public static SingleOutputStreamOperator<Long> apply(
      KeyedStream<Long, Long> in, String counter, int valueBytes) {
    return in.enableAsyncState().process(new AsyncKeyed(counter, valueBytes)).returns(Types.LONG);
  }

  @Override
  public void open(OpenContext c) {
    random = new Random(valueBytes);
    value =
        getRuntimeContext()
            .getState(
                new ValueStateDescriptor<>(
                    "value €", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
  }

  @Override
  public void processElement(Long v, Context c, Collector<Long> out) {
    byte[] bytes = new byte[valueBytes];
    random.nextBytes(bytes);
    value.asyncUpdate(bytes);
    Job.processed(counter).incrementAndGet();
    out.collect(v);
  }
}
