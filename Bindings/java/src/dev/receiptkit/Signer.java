// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

import java.util.Map;
import java.util.Objects;

/** Signs receipts with a private key and its certificates, for tests. */
public final class Signer extends Handle {
  /**
   * A receipt that was signed.
   *
   * @param format the kind
   * @param signedDate when it was signed, in ISO 8601; {@code null} where the kind has none
   * @param receipt the receipt; that of an app in base64
   */
  public record SignedReceipt(String format, String signedDate, String receipt) {}

  /** Creates a signer from an identity: {@code privateKey} and {@code certificates}. */
  public Signer(Map<String, ?> identity) {
    this(Native.document(Objects.requireNonNull(identity)));
  }

  /** Creates a signer from an identity in JSON. */
  public Signer(String identity) {
    this(Native.utf8(identity));
  }

  private Signer(byte[] identity) {
    super((functions, handle, result) -> functions.receiptkit_signer_create(identity, identity.length, handle, result));
  }

  /** Signs a receipt of a format, such as {@code signed-transaction}, as {@code receipt-tool sign} reads it. */
  public SignedReceipt sign(String format, Map<String, ?> receipt) {
    return sign(format, receipt, false, false);
  }

  /**
   * Signs a receipt.
   *
   * @param base64 whether a transaction receipt is returned in base64; an app receipt always is
   * @param pss whether a purchase of Huawei is signed with RSASSA-PSS
   */
  public SignedReceipt sign(String format, Map<String, ?> receipt, boolean base64, boolean pss) {
    byte[] request =
        Native.document(
            Map.of("format", Objects.requireNonNull(format), "receipt", Objects.requireNonNull(receipt), "base64", base64, "pss", pss));
    String text = use((functions, handle, result) -> functions.receiptkit_sign(handle, request, request.length, result)).successful();
    Map<String, Object> signed = Native.members(text);
    return new SignedReceipt((String) signed.get("format"), (String) signed.get("signedDate"), (String) signed.get("receipt"));
  }
}
