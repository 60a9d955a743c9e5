// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptHTTP
internal import Storefront
internal import Synchronization

/// The push subscription: its endpoint, and the claims of its tokens.
struct PushSubscription: Sendable {
  var url: String?
  /// The audience of tokens; the URL by default.
  var audience: String?
  var email = "pubsub-push@receiptkit-emulator.iam.gserviceaccount.com"
  var name = "projects/receiptkit-emulator/subscriptions/play-notifications"
}

/// Pushes messages as Pub/Sub does.
///
/// A message is pushed until it is accepted with status 102, 200, 201, 202 or 204, for at most seven days. Retries
/// follow after 10, 20, 40 seconds of the store's time and so on, up to 600.
///
/// An attempt is recorded after its answer. If the process ends in between, the message is pushed again.
actor PushSender {
  static let accepted: Set<Int> = [102, 200, 201, 202, 204]
  static let retention: Double = 7 * 86_400

  private let ledger: PlayLedger
  private let transport: any HTTPTransport
  private let timeout: Duration
  private let keys: PushKeys
  private let subscription: @Sendable () -> PushSubscription
  private let now: @Sendable () -> Timestamp
  /// The receivers' time, which determines whether tokens are valid.
  private let clientClock: @Sendable () -> Timestamp
  private var sending: Task<Void, any Error>?

  init(
    ledger: PlayLedger, transport: any HTTPTransport, timeout: Duration, keys: PushKeys,
    now: @escaping @Sendable () -> Timestamp, clientClock: @escaping @Sendable () -> Timestamp,
    subscription: @escaping @Sendable () -> PushSubscription
  ) {
    self.ledger = ledger
    self.transport = transport
    self.timeout = timeout
    self.keys = keys
    self.now = now
    self.clientClock = clientClock
    self.subscription = subscription
  }

  /// Makes all attempts that are due, in the order of their dates.
  func sendDue() async throws {
    let before = sending
    let task = Task {
      _ = try? await before?.value
      while subscription().url != nil, let (date, message) = try await ledger.nextMessage(), date <= now() {
        try await send(message, due: date)
      }
    }
    sending = task
    try await task.value
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
        audience: subscription.audience ?? text, email: subscription.email, now: clientClock()
      ).authorization(keys, fault)
    } catch {
      return (nil, "The token could not be signed: \(error)")
    }
    let published = message.publishDate.iso8601
    let body = JSONValue.members(
      (
        "message",
        .members(
          ("attributes", .object([])),
          ("data", .string(Base64.encodeToString(message.notification.encoded()))),
          ("messageId", .string(message.messageId)), ("message_id", .string(message.messageId)),
          ("publishTime", .string(published)), ("publish_time", .string(published)))
      ), ("subscription", .string(subscription.name)))
    var headers = [HTTPHeader("Content-Type", "application/json")]
    if let authorization { headers.append(HTTPHeader("Authorization", authorization)) }
    do throws(HTTPTransportError) {
      let response = try await transport.send(
        RemoteRequest(
          .post, url, headers: headers, body: body.encoded(), timeout: timeout,
          maximumResponseByteCount: 1 << 20))
      return (response.status, nil)
    } catch {
      return (nil, "\(error)")
    }
  }
}
