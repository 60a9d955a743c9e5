// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import Storefront

/// Sends the notifications of a store to the developer's server, as the App Store's server does.
///
/// A notification is sent until the server accepts it with a status from 200 to 206. Retries follow 1, 12, 24, 48 and
/// 72 hours of the store's time after the previous attempt, so there are at most six attempts.
///
/// An attempt is recorded after its answer. If the process ends in between, the notification is sent again.
package actor NotificationSender {
  /// The hours between attempts.
  package static let retryHours: [Double] = [1, 12, 24, 48, 72]

  private let store: LocalStore
  private let transport: any HTTPTransport
  private let timeout: Duration
  private let retries: Bool
  private let now: @Sendable () -> Timestamp
  private let url: @Sendable () -> String?
  private var sending: Task<Void, any Error>?

  /// Creates a sender.
  ///
  /// - Parameters:
  ///   - store: The store whose notifications are sent.
  ///   - transport: Sends requests.
  ///   - timeout: The longest time an answer may take, in real time.
  ///   - retries: `true` to send a failed notification again. The sandbox of the App Store does not.
  ///   - now: The store's time.
  ///   - url: The URL that receives the notifications. While it is `nil`, nothing is sent.
  package init(
    store: LocalStore, transport: any HTTPTransport, timeout: Duration = .seconds(10), retries: Bool = true,
    now: @escaping @Sendable () -> Timestamp, url: @escaping @Sendable () -> String?
  ) {
    self.store = store
    self.transport = transport
    self.timeout = timeout
    self.retries = retries
    self.now = now
    self.url = url
  }

  /// Makes all attempts that are due, in the order of their dates and then of the notifications.
  ///
  /// - Throws: `LocalStoreError` if the store cannot be read, or an attempt cannot be recorded.
  package func sendDue() async throws {
    // One run at a time, which keeps the order.
    let before = sending
    let task = Task {
      _ = try? await before?.value
      while let text = url(), let due = try await store.dueNotification(at: now()) {
        let result = await attempt(due.notification, at: text)
        let date = now()
        let number = due.delivery.attempts.count
        let isLast = result == .success || !retries || number >= Self.retryHours.count
        try await store.recordAttempt(
          of: due, at: date, result: result.rawValue,
          next: isLast ? nil : date.addingSeconds(Self.retryHours[number] * 3600))
      }
    }
    sending = task
    try await task.value
  }

  /// The date of the next attempt; `nil` while there is no URL.
  ///
  /// - Throws: `LocalStoreError` if the store cannot be read.
  package func nextAttempt() async throws(LocalStoreError) -> Timestamp? {
    url() == nil ? nil : try await store.nextDeliveryDate()
  }

  /// Asks the developer's server for a retention message, as the App Store does when a customer is about to cancel.
  ///
  /// - Parameters:
  ///   - body: The request, with its signed payload.
  ///   - url: The realtime URL.
  /// - Returns: The answer.
  /// - Throws: `HTTPTransportError`, with the code `unusable` if the URL is invalid.
  func ask(_ body: [UInt8], at url: String) async throws(HTTPTransportError) -> RemoteResponse {
    let place: RemoteURL
    do throws(RemoteURL.Failure) { place = try RemoteURL(url, allowsPlainHTTP: true) } catch {
      throw HTTPTransportError(.unusable, error.description)
    }
    return try await post(body, to: place)
  }

  private func post(_ body: [UInt8], to url: RemoteURL) async throws(HTTPTransportError) -> RemoteResponse {
    try await transport.send(
      RemoteRequest(
        .post, url, headers: [HTTPHeader("Content-Type", "application/json")], body: body, timeout: timeout,
        maximumResponseByteCount: 1 << 20))
  }

  /// The outcome of an attempt: Apple's `sendAttemptResult`.
  private enum AttemptResult: String {
    case success = "SUCCESS"
    case timedOut = "TIMED_OUT"
    case tlsIssue = "TLS_ISSUE"
    case circularRedirect = "CIRCULAR_REDIRECT"
    case socketIssue = "SOCKET_ISSUE"
    case unsupportedCharset = "UNSUPPORTED_CHARSET"
    case invalidResponse = "INVALID_RESPONSE"
    case prematureClose = "PREMATURE_CLOSE"
    case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case other = "OTHER"

    init(_ error: HTTPTransportError) {
      switch error.code {
      case .timedOut: self = .timedOut
      case .insecure: self = .tlsIssue
      case .cannotConnect: self = .socketIssue
      case .connectionLost: self = .prematureClose
      case .tooLarge, .invalidResponse: self = .invalidResponse
      case .cancelled, .unusable: self = .other
      }
    }
  }

  private func attempt(_ notification: SignedNotification, at text: String) async -> AttemptResult {
    let body = JSONValue.members(("signedPayload", .string(notification.signedPayload))).encoded()
    var visited: Set<String> = []
    var location = text
    while true {
      guard let url = try? RemoteURL(location, allowsPlainHTTP: true) else { return .other }
      guard visited.insert(location).inserted, visited.count <= 5 else { return .circularRedirect }
      let response: RemoteResponse
      do throws(HTTPTransportError) { response = try await post(body, to: url) } catch {
        return AttemptResult(error)
      }
      switch response.status {
      case 200...206: return Self.hasKnownCharset(response) ? .success : .unsupportedCharset
      case 301, 302, 307, 308:
        guard let target = response.header("Location") else { return .unsuccessfulStatus }
        location =
          target.hasPrefix("/") ? "\(url.isSecure ? "https" : "http")://\(url.authority)\(target)" : target
      default: return .unsuccessfulStatus
      }
    }
  }

  private static func hasKnownCharset(_ response: RemoteResponse) -> Bool {
    guard let type = response.header("Content-Type")?.lowercased(),
      let parameter = type.split(separator: ";").map({ $0.filter { $0 != " " && $0 != "\"" } })
        .first(where: { $0.hasPrefix("charset=") })
    else { return true }
    return ["utf-8", "us-ascii", "iso-8859-1", "utf8"].contains(String(parameter.dropFirst("charset=".count)))
  }
}
