// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import java.util.List;
import java.util.Map;

/** The verdict on one receipt. What an invalid receipt states is left out: nothing of it was verified. */
public final class Verdict {
  /** Whether a receipt is genuine and satisfies the policy. */
  public enum Word {
    VALID,
    INVALID,
    /** It could not be checked: it must be taken neither for valid nor for forged. */
    UNDETERMINED
  }

  private static final Map<Integer, Word> WORDS =
      Map.of(Native.VALID, Word.VALID, Native.INVALID, Word.INVALID, Native.UNDETERMINED, Word.UNDETERMINED);

  private final Word word;
  private final String json;
  private final Map<String, Object> members;

  Verdict(int status, String json) {
    this.json = json;
    members = Native.members(json);
    word = WORDS.get(status);
    if (word == null || !word.name().toLowerCase(java.util.Locale.ROOT).equals(members.get("verdict"))) {
      throw Native.internal("A verdict contradicts the status " + status + ".");
    }
  }

  private String text(String name) {
    return members.get(name) instanceof String text ? text : null;
  }

  public Word verdict() {
    return word;
  }

  /** Whether the receipt is genuine and satisfies the policy. */
  public boolean isValid() {
    return word == Word.VALID;
  }

  /** Whether the receipt is valid and a purchase in it is active. Grant nothing without it. */
  public boolean grantsAccess() {
    return isValid() && Boolean.TRUE.equals(members.get("grantsAccess"));
  }

  /** Why it is not valid; {@code null} of a valid one. */
  public Reason reason() {
    if (!(members.get("reason") instanceof Map<?, ?> reason)) return null;
    return new Reason((String) reason.get("code"), (String) reason.get("message"), (String) reason.get("place"));
  }

  /** Of an undetermined one: whether trying again later may give an answer. */
  public boolean retryable() {
    return Boolean.TRUE.equals(members.get("retryable"));
  }

  /** The kind of receipt; of an invalid one what it claims to be. */
  public String format() {
    return text("format");
  }

  public String environment() {
    return text("environment");
  }

  public String bundleId() {
    return text("bundleId");
  }

  /** When the receipt was signed, in ISO 8601. */
  public String signedDate() {
    return text("signedDate");
  }

  /** Whether what was bought still stands, such as {@code active}; {@code null} where there is no purchase. */
  public String standing() {
    return text("standing");
  }

  /** The purchases, by Apple's names. */
  @SuppressWarnings("unchecked")
  public List<Map<String, Object>> transactions() {
    return members.get("transactions") instanceof List<?> purchases ? (List<Map<String, Object>>) purchases : List.of();
  }

  /** Every member of the object {@code verdict}: maps, lists, strings, Long, BigDecimal and Boolean. It cannot be changed. */
  public Map<String, Object> toMap() {
    return members;
  }

  /** The whole object {@code verdict}. */
  public String json() {
    return json;
  }

  @Override
  public String toString() {
    return json;
  }
}
