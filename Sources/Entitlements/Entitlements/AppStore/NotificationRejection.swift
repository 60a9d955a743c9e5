// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// The reason why the body of a request is refused as a notification of the App Store.
public enum NotificationRejection: Error, Sendable, Hashable, CustomStringConvertible {
  /// The body is too large; no part of it was read.
  case tooLarge(byteCount: Int, limit: Int)
  /// The body is neither `{"signedPayload": …}` nor a JWS.
  case malformed(MalformedReceipt)
  /// The body was verified, but is not a notification.
  case wrongKind(ReceiptKind)
  /// The notification, or a signed part inside it, is not genuine or does not meet the policy.
  case invalid(InvalidReceipt)
  /// The notification could not be checked, and must be delivered again.
  case undetermined(UndeterminedReceipt)

  /// The HTTP status to answer: 503 if the notification could not be checked, 400 otherwise.
  ///
  /// After 503 the App Store delivers the notification again. Answer an accepted notification with
  /// ``NotificationReceiver/acceptedHTTPStatus``.
  public var httpStatus: Int {
    switch self {
    case .tooLarge, .malformed, .wrongKind, .invalid: 400
    case .undetermined: 503
    }
  }

  /// The reason, in one line for a log; it may quote the body, so do not send it back.
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
