// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

/** The verifier or signer is closed. */
public final class ClosedException extends ReceiptKitException {
  private static final long serialVersionUID = 1;

  ClosedException() {
    super("usage", "The verifier or signer is closed.", Native.USAGE, null, null);
  }
}
