// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

/** The payload of a receipt that is not valid was asked for. */
public final class NotValidException extends ReceiptKitException {
  private static final long serialVersionUID = 1;

  private final transient Verdict verdict;

  NotValidException(Verdict verdict, int status) {
    super(verdict.reason().code(), verdict.reason().message(), status, verdict.reason().place(), null);
    this.verdict = verdict;
  }

  /** The verdict: why there is no payload. */
  public Verdict verdict() {
    return verdict;
  }
}
