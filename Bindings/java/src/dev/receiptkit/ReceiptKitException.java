// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

/** What a call fails with. A verdict is no exception, whatever it says. */
public class ReceiptKitException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String code;
  private final int status;
  private final String place;

  ReceiptKitException(String code, String message, int status, String place, Throwable cause) {
    super(place == null ? message : message + " (" + place + ")", cause);
    this.code = code;
    this.status = status;
    this.place = place;
  }

  /** A stable code, such as {@code unexpected}. */
  public String code() {
    return code;
  }

  /** The status of receiptkit.h: 64 for a wrong call, 66 for an input that cannot be read, 70 for a fault. */
  public int status() {
    return status;
  }

  /** The place in the input, such as a JSON path; {@code null} if there is none. */
  public String place() {
    return place;
  }
}
