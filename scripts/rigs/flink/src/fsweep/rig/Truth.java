package fsweep.rig;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filemerging.DirectoryStreamStateHandle;
import org.apache.flink.runtime.state.filemerging.EmptySegmentFileStateHandle;
import org.apache.flink.runtime.state.filemerging.SegmentFileStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.util.InstantiationUtil;

/**
 * What one file refers to, from the objects into which Flink itself loads it. Fields are followed
 * by reflection, so that no list of classes written here can miss a way to a file.
 */
final class Truth {
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final List<Map<String, Object>> refs = new ArrayList<>();
  private final Map<String, Integer> classes = new TreeMap<>();
  private int inlineHandles;
  private long inlineBytes;

  private Truth() {}

  static boolean isMetadata(Path file) {
    return file.getFileName().toString().equals("_metadata");
  }

  static boolean isPointer(Path file) {
    return file.getFileName().toString().startsWith("completedCheckpoint");
  }

  static Map<String, Object> of(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    try {
      return isMetadata(file) ? metadata(file, bytes) : pointer(bytes);
    } catch (Exception e) {
      throw new IOException("Flink does not load " + file, e);
    }
  }

  private static Map<String, Object> metadata(Path file, byte[] bytes) throws Exception {
    ByteArrayInputStream in = new ByteArrayInputStream(bytes);
    CheckpointMetadata m =
        Checkpoints.loadCheckpointMetadata(
            new DataInputStream(in),
            Truth.class.getClassLoader(),
            new org.apache.flink.core.fs.Path(file.getParent().toUri()).toString());
    if (in.available() > 0) {
      throw new IOException(in.available() + " bytes left");
    }
    Truth t = new Truth();
    t.walk(m.getOperatorStates());
    t.walk(m.getMasterStates());
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("version", ByteBuffer.wrap(bytes).getInt(4));
    out.put("checkpoint", m.getCheckpointId());
    out.put("masters", m.getMasterStates().size());
    out.put("operators", m.getOperatorStates().size());
    CheckpointProperties p = m.getCheckpointProperties();
    out.put("savepoint", p.isSavepoint());
    out.put("properties", p.toString());
    return t.put(out);
  }

  private static Map<String, Object> pointer(byte[] bytes) throws Exception {
    CompletedCheckpoint c =
        InstantiationUtil.deserializeObject(bytes, Truth.class.getClassLoader());
    Truth t = new Truth();
    t.walk(c);
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("checkpoint", c.getCheckpointID());
    out.put("savepoint", c.getProperties().isSavepoint());
    out.put("properties", c.getProperties().toString());
    out.put("pointer", c.getExternalPointer());
    return t.put(out);
  }

  private Map<String, Object> put(Map<String, Object> out) {
    out.put("inline_handles", inlineHandles);
    out.put("inline_bytes", inlineBytes);
    out.put("classes", classes);
    out.put("refs", refs);
    return out;
  }

  private void walk(Object o) throws ReflectiveOperationException {
    if (o == null) {
      return;
    }
    if (o instanceof Object[]) {
      for (Object e : (Object[]) o) {
        walk(e);
      }
      return;
    }
    if (o instanceof Optional) {
      walk(((Optional<?>) o).orElse(null));
      return;
    }
    if (o instanceof Map) {
      for (Map.Entry<?, ?> e : ((Map<?, ?>) o).entrySet()) {
        walk(e.getKey());
        walk(e.getValue());
      }
      return;
    }
    if (!o.getClass().getName().startsWith("org.apache.flink.")) {
      if (o instanceof Iterable) {
        walkAll((Iterable<?>) o);
      }
      return;
    }
    // A handle counts as often as it is met: Flink lets several objects share one.
    if (o instanceof StreamStateHandle && leaf((StreamStateHandle) o)) {
      count(o);
      return;
    }
    if (!seen.add(o)) {
      return;
    }
    count(o);
    if (o instanceof Iterable) { // Flink's collections of handles
      walkAll((Iterable<?>) o);
      return;
    }
    for (Class<?> c = o.getClass(); c != Object.class; c = c.getSuperclass()) {
      for (Field f : c.getDeclaredFields()) {
        int m = f.getModifiers();
        if (!Modifier.isStatic(m) && !Modifier.isTransient(m) && !f.getType().isPrimitive()) {
          f.setAccessible(true);
          walk(f.get(o));
        }
      }
    }
  }

  private void walkAll(Iterable<?> all) throws ReflectiveOperationException {
    for (Object e : all) {
      walk(e);
    }
  }

  private void count(Object o) {
    String name = o.getClass().getSimpleName();
    if (name.contains("State") || name.endsWith("Handle")) {
      classes.merge(name, 1, Integer::sum);
    }
  }

  /** Records a handle that has no other inside; false for all others. */
  private boolean leaf(StreamStateHandle h) {
    if (h instanceof EmptySegmentFileStateHandle) {
      return true;
    }
    if (h instanceof SegmentFileStateHandle) {
      SegmentFileStateHandle s = (SegmentFileStateHandle) h;
      Map<String, Object> ref = ref("segment", s.getFilePath(), s.getStateSize());
      ref.put("start", s.getStartPos());
      ref.put("scope", s.getScope().name());
      ref.put("logical", s.getLogicalFileId().getKeyString());
    } else if (h instanceof DirectoryStreamStateHandle) {
      ref("directory", ((DirectoryStreamStateHandle) h).getDirectory(), 0);
    } else if (h instanceof RelativeFileStateHandle) {
      RelativeFileStateHandle r = (RelativeFileStateHandle) h;
      ref("relative", r.getFilePath(), r.getStateSize()).put("relative", r.getRelativePath());
    } else if (h instanceof FileStateHandle) {
      FileStateHandle f = (FileStateHandle) h;
      ref("file", f.getFilePath(), f.getStateSize());
    } else if (h instanceof ByteStreamStateHandle) {
      inlineHandles++;
      inlineBytes += h.getStateSize();
    } else {
      return false;
    }
    return true;
  }

  private Map<String, Object> ref(String kind, org.apache.flink.core.fs.Path path, long size) {
    Map<String, Object> ref = new LinkedHashMap<>();
    ref.put("kind", kind);
    ref.put("path", path.toString());
    ref.put("size", size);
    refs.add(ref);
    return ref;
  }
}
