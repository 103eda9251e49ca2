package fsweep.rig;

import java.util.Locale;

/** One JSON object, ASCII only, keys in the order they are put. */
final class Json {
  private final StringBuilder b = new StringBuilder("{");

  Json put(String key, long value) {
    return raw(key, Long.toString(value));
  }

  Json put(String key, boolean value) {
    return raw(key, Boolean.toString(value));
  }

  Json put(String key, String value) {
    return raw(key, quote(value));
  }

  /** Puts a value that is JSON already. */
  Json raw(String key, String json) {
    b.append(b.length() > 1 ? "," : "").append(quote(key)).append(':').append(json);
    return this;
  }

  @Override
  public String toString() {
    return b + "}";
  }

  private static String quote(String s) {
    if (s == null) {
      return "null";
    }
    StringBuilder q = new StringBuilder("\"");
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\') {
        q.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        q.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        q.append(c);
      }
    }
    return q.append('"').toString();
  }
}
