// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptHTTP
internal import Storefront

/// Pushes messages as Pub/Sub does.
///
/// A message is pushed until it is accepted with status 102, 200, 201, 202 or 204, for at most seven days. Retries
/// follow after 10, 20, 40 seconds of the store's time and so on, up to 600.
///
/// An attempt is recorded after its answer. If the process ends in between, the message is pushed again.
struct PushSender: Sendable {
  private static let accepted: Set<Int> = [102, 200, 201, 202, 204]
  private static let retention: Double = 7 * 86_400

  let ledger: PlayLedger
  let transport: any HTTPTransport
  let timeout: Duration
  let keys: PushKeys
  let now: @Sendable () -> Timestamp
  /// The receivers' time, which determines whether tokens are valid.
  let clientClock: @Sendable () -> Timestamp
  let subscription: @Sendable () -> PushSubscription
  let gate = Gate()

  /// Makes all attempts that are due, in the order of their dates.
  func sendDue() async throws {
    try await gate.run {
      while subscription().url != nil, let (date, message) = try await ledger.nextMessage(), date <= now() {
        try await send(message, due: date)
      }
    }
  }

  private func send(_ message: PlayMessage, due date: Timestamp) async throws {
    var message = message
    var attempt = PlayMessage.Attempt()
    let (status, failure) = await push(message, nil)
    attempt.date = now()
    attempt.status = status.map { Int64($0) }
    attempt.failure = failure
    var next: Timestamp?
    if let status, Self.accepted.contains(status) {
      if message.duplicates > 0 {
        message.duplicates -= 1
        next = attempt.date
      }
    } else {
      let doublings = min(message.attempts.count, 6)
      next = attempt.date.addingSeconds(min(600, 10 * Double(1 << doublings)))
      if let end = next, end > message.publishDate.addingSeconds(Self.retention) { next = nil }
    }
    try await ledger.record(attempt, of: message, due: date, next: next)
  }

  /// Pushes a message once.
  ///
  /// - Returns: The status of the answer, or the reason that there is no answer.
  func push(_ message: PlayMessage, _ fault: PushTokenFault?) async -> (status: Int?, failure: String?) {
    let subscription = subscription()
    guard let text = subscription.url, let url = try? RemoteURL(text, allowsPlainHTTP: true) else {
      return (nil, "The push endpoint is no URL.")
    }
    let authorization: String?
    do throws(CryptoError) {
      authorization = try PushToken(
        audience: subscription.audience ?? text, email: subscription.email, now: clientClock(), fault: fault
      ).authorization(keys)
    } catch {
      return (nil, "The token could not be signed: \(error)")
    }
    let published = message.publishDate.iso8601
    let body: JSONMembers = [
      "message": [
        "attributes": JSONMembers(), "data": Base64.encodeToString(message.notification.encoded()),
        "messageId": message.messageId, "message_id": message.messageId, "publishTime": published,
        "publish_time": published,
      ] as JSONMembers, "subscription": subscription.name,
    ]
    do throws(HTTPTransportError) {
      let response = try await transport.post(
        body.encoded(), to: url, authorization: authorization, timeout: timeout)
      return (response.status, nil)
    } catch {
      return (nil, "\(error)")
    }
  }
}
