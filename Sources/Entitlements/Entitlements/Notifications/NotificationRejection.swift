// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// Why the body of a request is not taken for a notification of the App Store.
public enum NotificationRejection: Error, Sendable, Hashable, CustomStringConvertible {
  /// The body is longer than the receiver reads; nothing of it was looked at.
  case tooLarge(byteCount: Int, limit: Int)
  /// Neither `{"signedPayload": …}` nor a JWS.
  case malformed(MalformedReceipt)
  /// Verified, and something else than a notification.
  case wrongKind(ReceiptKind)
  /// The notification, or a signed part inside it, is not genuine or not what the policy requires.
  case invalid(InvalidReceipt)
  /// It could not be checked, and must be delivered again.
  case undetermined(UndeterminedReceipt)

  /// The status to answer with: 400 for what must not be accepted; 503 for what could not be checked, so that
  /// the App Store delivers it again. What was accepted is answered with
  /// ``NotificationReceiver/acceptedHTTPStatus``.
  public var httpStatus: Int {
    switch self {
    case .tooLarge, .malformed, .wrongKind, .invalid: 400
    case .undetermined: 503
    }
  }

  /// Why, in one line for a log. It may quote the body; do not send it back.
  public var description: String {
    switch self {
    case .tooLarge(let byteCount, let limit):
      "malformed: The body has \(byteCount) bytes; the limit is \(limit)."
    case .malformed(let error): "malformed: \(error)"
    case .wrongKind(let kind): "wrong-kind: This is a \(kind.rawValue), not a notification."
    case .invalid(let receipt): receipt.reason.description
    case .undetermined(let receipt): receipt.reason.description
    }
  }
}
