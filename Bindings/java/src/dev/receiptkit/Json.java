// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as maps, lists, strings, numbers, Booleans and null: the JDK has no reader of its own. Strict, with bounded nesting.
 * A whole number is a Long if it fits, every other one a BigDecimal.
 */
final class Json {
  private static final int MAXIMUM_DEPTH = 128;

  private final String text;
  private int position;

  private Json(String text) {
    this.text = text;
  }

  /** Throws IllegalArgumentException if the text is not one JSON value. */
  static Object read(String text) {
    Json reader = new Json(text);
    Object value = reader.value(0);
    reader.skipSpace();
    if (reader.position != text.length()) throw reader.wrong();
    return value;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("The JSON is wrong at character " + position + ".");
  }

  private void skipSpace() {
    while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) position++;
  }

  /** The next character, or NUL at the end. */
  private char peek() {
    return position < text.length() ? text.charAt(position) : 0;
  }

  private void expect(String expected) {
    if (!text.startsWith(expected, position)) throw wrong();
    position += expected.length();
  }

  private boolean takes(char expected) {
    skipSpace();
    if (peek() != expected) return false;
    position++;
    return true;
  }

  private Object value(int depth) {
    if (depth > MAXIMUM_DEPTH) throw wrong();
    skipSpace();
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      case 't':
        expect("true");
        return true;
      case 'f':
        expect("false");
        return false;
      case 'n':
        expect("null");
        return null;
      default:
        return number();
    }
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> members = new LinkedHashMap<>();
    position++;
    if (takes('}')) return Collections.unmodifiableMap(members);
    do {
      skipSpace();
      if (peek() != '"') throw wrong();
      String name = string();
      if (members.containsKey(name) || !takes(':')) throw wrong();
      members.put(name, value(depth + 1));
    } while (takes(','));
    if (!takes('}')) throw wrong();
    return Collections.unmodifiableMap(members);
  }

  private List<Object> array(int depth) {
    List<Object> elements = new ArrayList<>();
    position++;
    if (takes(']')) return Collections.unmodifiableList(elements);
    do {
      elements.add(value(depth + 1));
    } while (takes(','));
    if (!takes(']')) throw wrong();
    return Collections.unmodifiableList(elements);
  }

  private String string() {
    StringBuilder content = new StringBuilder();
    position++;
    while (true) {
      if (position >= text.length()) throw wrong();
      char next = text.charAt(position++);
      if (next == '"') return content.toString();
      if (next < ' ') throw wrong();
      content.append(next == '\\' ? escaped() : next);
    }
  }

  private char escaped() {
    if (position >= text.length()) throw wrong();
    char next = text.charAt(position++);
    if (next != 'u') {
      int index = "\"\\/bfnrt".indexOf(next);
      if (index < 0) throw wrong();
      return "\"\\/\b\f\n\r\t".charAt(index);
    }
    int code = 0;
    for (int end = position + 4; position < end; position++) {
      char digit = peek();
      // Character.digit accepts digits of other scripts, too.
      if (digit > 'f' || Character.digit(digit, 16) < 0) throw wrong();
      code = code * 16 + Character.digit(digit, 16);
    }
    return (char) code;
  }

  private int digits() {
    int start = position;
    while (peek() >= '0' && peek() <= '9') position++;
    if (position == start) throw wrong();
    return position - start;
  }

  private Number number() {
    int start = position;
    if (peek() == '-') position++;
    boolean beginsWithZero = peek() == '0';
    if (digits() > 1 && beginsWithZero) throw wrong();
    boolean isWhole = true;
    if (peek() == '.') {
      isWhole = false;
      position++;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      isWhole = false;
      position++;
      if (peek() == '+' || peek() == '-') position++;
      digits();
    }
    String number = text.substring(start, position);
    try {
      return isWhole ? (Number) Long.valueOf(number) : new BigDecimal(number);
    } catch (NumberFormatException error) {
      if (number.length() > 1000) throw wrong();
      return new BigDecimal(number);
    }
  }

  /** The JSON of maps, iterables, strings, numbers, Booleans and null. */
  static String write(Object value) {
    StringBuilder output = new StringBuilder();
    write(value, output, 0);
    return output.toString();
  }

  private static void write(Object value, StringBuilder output, int depth) {
    if (depth > MAXIMUM_DEPTH) throw new IllegalArgumentException("It is nested too deeply, or contains itself.");
    if (value == null || value instanceof Boolean) {
      output.append(value);
    } else if (value instanceof String) {
      writeString((String) value, output);
    } else if (value instanceof Number) {
      double number = ((Number) value).doubleValue();
      if (Double.isNaN(number) || (Double.isInfinite(number) && !(value instanceof BigDecimal))) {
        throw new IllegalArgumentException("JSON has no " + value + ".");
      }
      output.append(value);
    } else if (value instanceof Map) {
      String separator = "{";
      for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
        output.append(separator);
        writeString((String) member.getKey(), output);
        output.append(':');
        write(member.getValue(), output, depth + 1);
        separator = ",";
      }
      output.append(separator.equals("{") ? "{}" : "}");
    } else if (value instanceof Iterable) {
      String separator = "[";
      for (Object element : (Iterable<?>) value) {
        output.append(separator);
        write(element, output, depth + 1);
        separator = ",";
      }
      output.append(separator.equals("[") ? "[]" : "]");
    } else {
      throw new IllegalArgumentException("A " + value.getClass().getName() + " is no value of JSON.");
    }
  }

  private static void writeString(String value, StringBuilder output) {
    output.append('"');
    for (int index = 0; index < value.length(); index++) {
      char next = value.charAt(index);
      if (next == '"' || next == '\\') {
        output.append('\\').append(next);
      } else if (next < ' ' || Character.isSurrogate(next)) {
        output.append(String.format("\\u%04x", (int) next));
      } else {
        output.append(next);
      }
    }
    output.append('"');
  }
}
