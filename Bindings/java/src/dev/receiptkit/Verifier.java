// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Verifies receipts by a policy. Create one and share it among threads: it remembers the signers of receipts that it accepted.
 */
public final class Verifier extends Handle {
  /** Creates a verifier from a policy, at least {@code Map.of("bundleIds", List.of("com.example.app"))}. */
  public Verifier(Map<String, ?> policy) {
    this(Native.document(Objects.requireNonNull(policy)));
  }

  /** Creates a verifier from a policy in JSON. */
  public Verifier(String policy) {
    this(Native.utf8(policy));
  }

  private Verifier(byte[] policy) {
    super((functions, handle, result) -> functions.receiptkit_verifier_create(policy, policy.length, handle, result));
  }

  /** Verifies a receipt of any kind. The verdict may be invalid or undetermined: ask {@link Verdict#isValid}. */
  public Verdict verify(byte[] receipt) {
    Objects.requireNonNull(receipt);
    Native.Result result = use((functions, handle, text) -> functions.receiptkit_verify(handle, receipt, receipt.length, text));
    if (result.status >= Native.USAGE) throw Native.failure(result);
    return new Verdict(result.status, result.text);
  }

  /** Verifies receipts on all processors. The verdicts have the order of the receipts. */
  public List<Verdict> verifyMany(List<byte[]> receipts) {
    byte[][] pieces = receipts.toArray(byte[][]::new);
    long[] offsets = new long[pieces.length + 1];
    for (int index = 0; index < pieces.length; index++) offsets[index + 1] = offsets[index] + pieces[index].length;
    if (offsets[pieces.length] > Integer.MAX_VALUE - 16) {
      throw new ReceiptKitException("usage", "The receipts are longer than an array of Java: give fewer.", Native.USAGE, null, null);
    }
    byte[] joined = new byte[(int) offsets[pieces.length]];
    for (int index = 0; index < pieces.length; index++) System.arraycopy(pieces[index], 0, joined, (int) offsets[index], pieces[index].length);
    byte[] statuses = new byte[pieces.length + 1];
    Native.Result result =
        use((functions, handle, text) -> functions.receiptkit_verify_batch(handle, joined, offsets, pieces.length, statuses, text));
    String text = result.successful();
    String[] lines = text.isEmpty() ? new String[0] : text.substring(0, text.length() - 1).split("\n", -1);
    if (lines.length != pieces.length) {
      throw Native.internal("The library returned " + lines.length + " verdicts on " + pieces.length + " receipts.");
    }
    List<Verdict> verdicts = new ArrayList<>(lines.length);
    for (int index = 0; index < lines.length; index++) verdicts.add(new Verdict(statuses[index] & 0xff, lines[index]));
    return verdicts;
  }

  /**
   * Verifies a receipt and returns its payload, as the store signed it.
   *
   * @throws NotValidException if the receipt is not valid
   */
  public String payload(byte[] receipt) {
    Objects.requireNonNull(receipt);
    Native.Result result = use((functions, handle, text) -> functions.receiptkit_payload(handle, receipt, receipt.length, text));
    if (result.status == Native.VALID) return result.text;
    if (result.status >= Native.USAGE) throw Native.failure(result);
    throw new NotValidException(new Verdict(result.status, result.text), result.status);
  }
}
