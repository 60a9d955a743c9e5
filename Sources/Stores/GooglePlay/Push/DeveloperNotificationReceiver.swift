// SPDX-License-Identifier: Apache-2.0

package import Entitlements
internal import ReceiptBytes
public import ReceiptCodec

/// Receives the real-time developer notifications of Google Play, and asks Google Play about the purchase concerned.
///
/// Cloud Pub/Sub delivers the notifications in push requests.
///
/// ```swift
/// let message = try await receiver.receive(authorization: authorization, body: body)
/// if !isRecorded(message.messageId) {
///   let update = try await receiver.update(for: message)
///   try deliver(update)
///   ledger.merge(update.change)  // and record the message in the same commit
/// }
/// respond(DeveloperNotificationReceiver.acceptedHTTPStatus)
/// ```
///
/// Pub/Sub delivers each message at least once, and in any order. So do the work before you record the message, and
/// record the message before you answer Pub/Sub. A ledger accepts repetitions and any order.
public struct DeveloperNotificationReceiver: Sendable {
  /// The HTTP status to answer for a processed message.
  public static let acceptedHTTPStatus = 200

  private let verifier: PushTokenVerifier
  private let client: GooglePlayClient
  private let packageNames: Set<String>
  private let maximumByteCount: Int

  /// Creates a receiver.
  ///
  /// - Parameters:
  ///   - verifier: Verifies the tokens.
  ///   - client: Asks about the purchases.
  ///   - packageNames: The apps whose notifications are accepted; by default the client's app.
  ///   - maximumByteCount: The largest body that is read; 256 KiB by default, many times the size of Google's.
  public init(
    verifier: PushTokenVerifier, client: GooglePlayClient, packageNames: Set<String>? = nil,
    maximumByteCount: Int = 1 << 18
  ) {
    self.verifier = verifier
    self.client = client
    self.packageNames = packageNames ?? [client.packageName]
    self.maximumByteCount = maximumByteCount
  }

  /// Verifies the token of a request and reads the message.
  ///
  /// - Parameters:
  ///   - authorization: The value of the `Authorization` header; `nil` if there is no such header.
  ///   - body: The body.
  /// - Returns: The message.
  /// - Throws: ``PushRejection``, which states the HTTP status to answer.
  public func receive(authorization: String?, body: [UInt8]) async throws(PushRejection) -> DeveloperMessage {
    do throws(PushTokenRejection) {
      _ = try await verifier.verify(authorization: authorization)
    } catch {
      throw .token(error)
    }
    guard body.count <= maximumByteCount else {
      throw .tooLarge(byteCount: body.count, limit: maximumByteCount)
    }
    let message: DeveloperMessage
    do throws(MalformedReceipt) {
      message = try Self.message(in: ByteOrderMark.dropped(from: body))
    } catch {
      throw .malformed(error)
    }
    guard packageNames.contains(message.packageName) else { throw .otherApp(message.packageName) }
    return message
  }

  /// Asks Google Play about the purchase of a message.
  ///
  /// If Google Play does not know the purchase, or no longer knows it, that is not an error: the update states it.
  ///
  /// - Throws: ``GooglePlayError`` if Google Play did not answer and the message must be delivered again.
  public func update(for message: DeveloperMessage) async throws(GooglePlayError) -> DeveloperUpdate {
    let client = client.calling(for: message.packageName)
    var change = message.refundReview(at: client.time.now())
    if let review = change.refundReviews.first { try await client.complete(review, in: &change) }
    guard let id = message.purchase else { return DeveloperUpdate(message: message, change: change) }
    change.apply(message, to: id, at: client.time.now())
    change.merge(try await client.answer(about: id, isSubscription: message.isSubscription).facts)
    return DeveloperUpdate(message: message, change: change)
  }

  /// Reads the body of a push request.
  package static func message(in body: [UInt8]) throws(MalformedReceipt) -> DeveloperMessage {
    let limits = ReceiptLimits(maximumByteCount: body.count, maximumDepth: 16, maximumElementCount: 10_000)
    let push = try PubSubPush(json: body, part: "push request", limits: limits)
    let ids = [push.message.messageId, push.message.messageIdAlias].compactMap(\.self)
    guard let id = ids.first, ids.allSatisfy({ $0 == id }), 1...256 ~= id.utf8.count else {
      throw MalformedReceipt(
        .missing, at: .jsonPath("$.message.messageId"),
        "The message has no identifier of 1 to 256 bytes, or two that differ.")
    }
    let json: [UInt8]
    do throws(Base64Error) {
      json = try Base64.decode(Array((push.message.data ?? "").utf8))
    } catch {
      throw MalformedReceipt(
        .invalidBase64, at: .jsonPath("$.message.data"), "The data are not standard base64. \(error.message)")
    }
    let notification = try DeveloperNotification(json: json, part: "developer notification", limits: limits)
    guard notification.events.count <= 1 else {
      throw MalformedReceipt(.unexpected, at: .jsonPath("$"), "The notification says several things at once.")
    }
    guard let packageName = notification.packageName else {
      throw MalformedReceipt(.missing, at: .jsonPath("$.packageName"), "The notification names no app.")
    }
    return DeveloperMessage(
      messageId: id, publishTime: push.message.publishTime ?? push.message.publishTimeAlias,
      packageName: packageName, notification: notification, json: json)
  }
}

extension GooglePlayClient {
  /// Returns Google Play's answer about a purchase, or the fact that it does not or no longer know the purchase.
  ///
  /// - Returns: The facts, and whether the purchase token is no longer valid: Google Play knew it once.
  /// - Throws: ``GooglePlayError`` if Google Play did not answer and must be asked again.
  package func answer(
    about id: PlayEntitlement.ID, isSubscription: Bool
  ) async throws(GooglePlayError) -> (facts: EntitlementLedger, isNoLongerValid: Bool) {
    var answer = EntitlementLedger()
    var isNoLongerValid = false
    let asOf = time.now()
    do throws(GooglePlayError) {
      if isSubscription {
        answer.apply(try await send(.subscription(id.purchaseToken)), to: id, asOf: asOf)
      } else {
        answer.apply(try await send(.product(id.purchaseToken)), to: id, asOf: asOf)
      }
    } catch {
      switch error.code {
      case .tokenNoLongerValid, .notFound:
        answer.applyUnknownToken(id, asOf: asOf)
        isNoLongerValid = error.code == .tokenNoLongerValid
      // The token is invalid, and will stay so.
      case .invalidRequest: break
      default: throw error
      }
    }
    return (answer, isNoLongerValid)
  }
}

/// The reason why a push request is refused.
public enum PushRejection: Error, Sendable, Hashable, CustomStringConvertible {
  /// The token was not accepted.
  case token(PushTokenRejection)
  /// The body is too large; no part of it was read.
  case tooLarge(byteCount: Int, limit: Int)
  /// The body is not a message of Pub/Sub with a notification.
  case malformed(MalformedReceipt)
  /// The notification belongs to an app that is not accepted.
  case otherApp(String)

  /// The HTTP status to answer: 401 for the token, 503 if the token could not be checked, 400 for everything else.
  ///
  /// Pub/Sub delivers the message again after each of them.
  public var httpStatus: Int {
    switch self {
    case .token(let rejection): rejection.isRetryable ? 503 : 401
    case .tooLarge, .malformed, .otherApp: 400
    }
  }

  /// The reason, in one line for a log; it may quote the request, so do not send it back.
  public var description: String {
    switch self {
    case .token(let rejection): rejection.description
    case .tooLarge(let byteCount, let limit):
      "malformed: The body has \(byteCount) bytes; the limit is \(limit)."
    case .malformed(let error): "malformed: \(error)"
    case .otherApp(let name): "other-app: The notification is of \(ShownText.line(name))."
    }
  }
}
