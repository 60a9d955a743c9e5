// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptVerification

/// Receives the requests of App Store Server Notifications, version 2.
///
/// ```swift
/// let receiver = NotificationReceiver(verifier: verifier)
/// do throws(NotificationRejection) {
///   let notification = try receiver.receive(body)
///   ledger.apply(notification)
///   respond(NotificationReceiver.acceptedHTTPStatus)
/// } catch {
///   log(error.description)
///   respond(error.httpStatus)
/// }
/// ```
///
/// The policy of the verifier determines which app's notifications are accepted. For production, set its `appAppleId`
/// too: Apple requires that it is compared.
public struct NotificationReceiver: Sendable {
  /// The HTTP status to answer for an accepted notification; the App Store treats any of 200 to 206 as acceptance.
  public static let acceptedHTTPStatus = 200

  package let verifier: ReceiptVerifier
  /// The verifier that admits notifications about purchases that no longer stand.
  private let notifications: ReceiptVerifier
  /// The largest body that is read, in bytes; read at most one byte more than this from the network.
  package let maximumByteCount: Int

  /// Creates a receiver.
  ///
  /// - Parameters:
  ///   - verifier: Verifies notifications and all signed parts inside them.
  ///   - maximumByteCount: The largest body that is read; 1 MiB by default, many times the size of Apple's.
  public init(verifier: ReceiptVerifier, maximumByteCount: Int = 1 << 20) {
    self.verifier = verifier
    notifications = verifier.acceptingLapsedPurchases
    self.maximumByteCount = maximumByteCount
  }

  /// Verifies the notification in the body of a request.
  ///
  /// - Parameter body: `{"signedPayload": "…"}`, or the JWS alone.
  /// - Returns: The notification and its decoded parts, all verified.
  /// - Throws: ``NotificationRejection``, which states the HTTP status to answer.
  public func receive(_ body: [UInt8]) throws(NotificationRejection) -> AppStoreNotification {
    guard body.count <= maximumByteCount else {
      throw .tooLarge(byteCount: body.count, limit: maximumByteCount)
    }
    let jws: UnverifiedJWS
    do throws(MalformedReceipt) {
      jws = try UnverifiedJWS(
        parsing: try signedPayload(in: ByteOrderMark.dropped(from: body)), limits: verifier.limits)
    } catch {
      throw .malformed(error)
    }
    switch notifications.verify(.jws(jws)) {
    case .valid(let receipt):
      guard let notification = AppStoreNotification(receipt) else { throw .wrongKind(receipt.kind) }
      return notification
    case .invalid(let receipt): throw .invalid(receipt)
    case .undetermined(let receipt): throw .undetermined(receipt)
    }
  }

  private func signedPayload(in body: [UInt8]) throws(MalformedReceipt) -> [UInt8] {
    let text = ReceiptText.trimming(body)
    guard let first = text.first else { throw MalformedReceipt(.empty, at: .whole, "The body is empty.") }
    guard first == UInt8(ascii: "{") else { return text }
    let members = try JSONDocument.stringMembers(
      named: ["signedPayload"], in: body, limits: verifier.limits)
    guard let only = members.first else {
      throw MalformedReceipt(
        .missing, at: .jsonPath("$.signedPayload"), "The body has no member \"signedPayload\" with a string.")
    }
    return Array(only.value.utf8)
  }
}

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
