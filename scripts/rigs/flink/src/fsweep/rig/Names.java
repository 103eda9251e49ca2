package fsweep.rig;

import java.util.Random;

/** Names that only careful programs get right. */
final class Names {
  // Of one to four bytes in UTF-8, and whatever has a meaning in URIs.
  private static final String[] PARTS = {
    "a", "Z", "0", "job", " ", "%", "%20", "%2F", "+", "#", "?", "&", "=", "'", "\"", "~", "$",
    "ä", "ß", "é", "ñ", "Ж", "日本", "한", "€", "😀", "𝄞", "\u00a0", "e\u0301",
  };

  private Names() {}

  /** The name of a directory. */
  static String file(Random r) {
    // All of them meet a letter outside ASCII, one outside the basic plane, an escape and a space.
    return "d" + some(r) + "ü%41 😀" + some(r) + "z";
  }

  /** Any name; among others with NUL, which modified UTF-8 writes in two bytes. */
  static String any(Random r) {
    return some(r) + (r.nextBoolean() ? "\0" : "") + some(r) + Integer.toHexString(r.nextInt());
  }

  private static String some(Random r) {
    StringBuilder b = new StringBuilder();
    for (int n = r.nextInt(6); n > 0; n--) {
      b.append(PARTS[r.nextInt(PARTS.length)]);
    }
    return b.toString();
  }
}
