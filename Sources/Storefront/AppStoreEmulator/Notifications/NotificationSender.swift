// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// Sends the notifications of a store to the developer's server, as the App Store's server does: the article of the
/// module says when. An attempt is recorded after its answer.
struct NotificationSender: Sendable {
  static let retryHours: [Double] = [1, 12, 24, 48, 72]

  let store: LocalStore
  let transport: any HTTPTransport
  /// The longest time an answer may take, in real time.
  let timeout: Duration
  /// `true` to send a failed notification again. The sandbox of the App Store does not.
  let retries: Bool
  /// The store's time.
  let now: @Sendable () -> Timestamp
  /// The URL that receives the notifications. While it is `nil`, nothing is sent.
  let url: @Sendable () -> String?
  /// One run at a time, which keeps the order.
  let gate = Gate()

  /// Makes all attempts that are due, in the order of their dates and then of the notifications.
  func sendDue() async throws {
    try await gate.run {
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
  }

  /// The date of the next attempt; `nil` while there is no URL.
  func nextAttempt() async throws(LocalStoreError) -> Timestamp? {
    url() == nil ? nil : try await store.nextDeliveryDate()
  }

  /// Asks the developer's server for a retention message, as the App Store does when a customer is about to cancel.
  func ask(_ body: [UInt8], at url: String) async throws(HTTPTransportError) -> RemoteResponse {
    let place: RemoteURL
    do throws(RemoteURL.Failure) { place = try RemoteURL(url, allowsPlainHTTP: true) } catch {
      throw HTTPTransportError(.unusable, error.description)
    }
    return try await transport.post(body, to: place, timeout: timeout)
  }

  private func attempt(_ notification: SignedNotification, at text: String) async -> SendAttemptResult {
    let body: JSONMembers = ["signedPayload": notification.signedPayload]
    var visited: Set<String> = []
    var location = text
    while true {
      guard let url = try? RemoteURL(location, allowsPlainHTTP: true) else { return .other }
      guard visited.insert(location).inserted, visited.count <= 5 else { return .circularRedirect }
      let response: RemoteResponse
      do throws(HTTPTransportError) {
        response = try await transport.post(body.encoded(), to: url, timeout: timeout)
      } catch {
        return SendAttemptResult(error.code)
      }
      switch response.status {
      case 200...206: return Self.hasKnownCharset(response) ? .success : .unsupportedCharset
      case 301, 302, 307, 308:
        guard let target = response.header("Location") else { return .unsuccessfulHTTPResponseCode }
        location =
          target.hasPrefix("/") ? "\(url.isSecure ? "https" : "http")://\(url.authority)\(target)" : target
      default: return .unsuccessfulHTTPResponseCode
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

extension SendAttemptResult {
  fileprivate init(_ error: HTTPTransportError.Code) {
    switch error {
    case .timedOut: self = .timedOut
    case .insecure: self = .tlsIssue
    case .cannotConnect: self = .socketIssue
    case .connectionLost: self = .prematureClose
    case .tooLarge, .invalidResponse: self = .invalidResponse
    case .cancelled, .unusable: self = .other
    }
  }
}

extension HTTPTransport {
  /// Sends JSON to a developer's server.
  package func post(
    _ body: [UInt8], to url: RemoteURL, authorization: String? = nil, timeout: Duration
  ) async throws(HTTPTransportError) -> RemoteResponse {
    var headers = [HTTPHeader("Content-Type", "application/json")]
    if let authorization { headers.append(HTTPHeader("Authorization", authorization)) }
    return try await send(
      RemoteRequest(
        .post, url, headers: headers, body: body, timeout: timeout, maximumResponseByteCount: 1 << 20))
  }
}

/// Runs operations one after the other.
package actor Gate {
  private var last: Task<Void, Never>?

  package init() {}

  package func run<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let before = last
    let task = Task {
      await before?.value
      return try await body()
    }
    last = Task { _ = try? await task.value }
    return try await task.value
  }
}
