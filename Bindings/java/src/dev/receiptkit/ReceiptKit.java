// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** What needs no verifier and no signer. */
public final class ReceiptKit {
  private ReceiptKit() {}

  /**
   * What a proof is checked with; the members that are not needed are {@code null}.
   *
   * @param key the trail's public key, as C2SP signed notes have it
   * @param policy the text of a witness policy, in place of the key
   * @param replacedKeys the proofs by which later keys replaced the key
   * @param receipt the receipt that the entry must be about
   */
  public record ProofRequest(String key, String policy, String replacedKeys, byte[] receipt) {}

  /**
   * The answer about a proof.
   *
   * @param isProven whether the proof proves its entry
   * @param message why not
   * @param members every member of the object {@code audit-check}
   */
  public record ProofCheck(boolean isProven, String message, Map<String, Object> members) {}

  /** Loads the library from a path, in place of where it is looked for. Verifiers and signers made before keep theirs. */
  public static void load(String path) {
    Native.load(Objects.requireNonNull(path));
  }

  /**
   * The contents of a receipt, of which nothing is checked: the members of the object {@code inspection}. Grant nothing for it.
   *
   * @param redacting whether a customer's values are replaced
   */
  public static Map<String, Object> inspectUnverified(byte[] receipt, boolean redacting) {
    Objects.requireNonNull(receipt);
    int options = redacting ? Native.REDACTED : 0;
    return Native.members(
        Native.call(Native.functions(), (functions, result) -> functions.receiptkit_inspect(receipt, receipt.length, options, result))
            .successful());
  }

  /** Checks a proof (C2SP tlog-proof) with either the trail's public key or a witness policy. */
  public static ProofCheck checkProof(byte[] proof, ProofRequest request) {
    Objects.requireNonNull(proof);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("key", request.key());
    members.put("policy", request.policy());
    members.put("replacedKeys", request.replacedKeys());
    members.put("receipt", request.receipt() == null ? null : Base64.getEncoder().encodeToString(request.receipt()));
    members.values().removeIf(Objects::isNull);
    byte[] document = Native.document(members);
    Native.Result result =
        Native.call(
            Native.functions(),
            (functions, text) -> functions.receiptkit_check_proof(proof, proof.length, document, document.length, text));
    if (result.status != Native.VALID && result.status != Native.INVALID) throw Native.failure(result);
    Map<String, Object> check = Native.members(result.text);
    boolean isProven = result.status == Native.VALID;
    if (!Boolean.valueOf(isProven).equals(check.get("proven"))) {
      throw Native.internal("The answer about a proof contradicts the status " + result.status + ".");
    }
    return new ProofCheck(isProven, (String) check.get("message"), check);
  }

  /** The members of the object {@code version}. */
  public static Map<String, Object> version() {
    return Native.members(Native.call(Native.functions(), Native.Functions::receiptkit_version).successful());
  }
}
