// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import ReceiptSigning
internal import Storefront

/// The endpoints for test notifications and the notification history.
enum NotificationEndpoints {
  static let routes = [
    Route("POST", "/inApps/v1/notifications/test", requestTest),
    Route("GET", "/inApps/v1/notifications/test/{}", testStatus),
    Route("POST", "/inApps/v1/notifications/history", history),
  ]

  private static let day: Double = 86_400
  private static let tokenLife = 183 * day
  private static let pageTokenLife = day

  @Sendable static func requestTest(_ call: EndpointCall) async throws -> RemoteResponse {
    guard call.state.notificationURL != nil else { throw Refusal.serverNotificationURLNotFound }
    let configuration = call.configuration
    let test = Notification().with {
      $0.notificationType = .test
      $0.data = NotificationData().with {
        $0.environment = configuration.environment
        $0.appAppleId = configuration.appAppleId
        $0.bundleId = configuration.bundleId
      }
    }
    let posted = try await call.purchases.post(test)
    let token = "\(posted.uuid.rawValue)_\(Int64(call.now.wholeMilliseconds / 1000))"
    call.store.state.withState {
      $0.testNotifications[token] = (posted.number, $0.pendingAnswers)
    }
    return .json(["testNotificationToken": token])
  }

  @Sendable static func testStatus(_ call: EndpointCall) async throws -> RemoteResponse {
    let token = call.parameter()
    let parts = token.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, UUIDString(rawValue: String(parts[0])).isUUID, let seconds = Int64(parts[1]),
      call.now < Timestamp(secondsSince1970: seconds).addingSeconds(tokenLife)
    else { throw Refusal.invalidTestNotificationToken }
    let test = try call.store.state.withState { state in
      guard let test = state.testNotifications[token] else { throw Refusal.testNotificationNotFound }
      guard test.pendingAnswers == 0 else {
        state.testNotifications[token]?.pendingAnswers -= 1
        throw Refusal.testNotificationNotFound
      }
      return test
    }
    let sends = call.store.sender != nil
    // If an attempt is due or under way, wait until it ends.
    try? await call.store.sender?.sendDue()
    let found = try await call.purchases.notifications(after: test.number - 1, limit: 1).first
    let delivery = try await call.purchases.delivery(of: test.number)
    // Apple's server answers that the notification is not found before the first attempt.
    guard let found, !sends || !delivery.attempts.isEmpty else { throw Refusal.testNotificationNotFound }
    return .json(item(found, delivery))
  }

  @Sendable static func history(_ call: EndpointCall) async throws -> RemoteResponse {
    let filter = try NotificationFilter(try call.body(), call)
    let query = [String(decoding: call.request.body, as: UTF8.self)]
    var last: (date: Timestamp, number: Int64)?
    if let token = try call.page("paginationToken", of: query, orElse: .invalidPaginationToken) {
      guard token.position >= 0 else { throw Refusal.invalidPaginationToken }
      guard call.now < token.issued.addingSeconds(pageTokenLife) else { throw Refusal.paginationTokenExpired }
      let number = token.position
      let found = try await call.purchases.notifications(after: number - 1, limit: 1).first
      last = found.map { ($0.signedDate, number) }
    }
    let page = try await call.purchases.notifications(
      signedIn: filter.dates, after: last, limit: PageToken.pageSize
    ) { filter.accepts($0, $1) }
    let token = page.items.last.flatMap {
      page.hasMore ? PageToken(position: $0.notification.number, issued: call.now).text(query: query) : nil
    }
    return .json([
      "paginationToken": token, "hasMore": page.hasMore,
      "notificationHistory": page.items.map { item($0.notification, $0.delivery) },
    ])
  }

  private static func item(_ notification: SignedNotification, _ delivery: DeliveryRecord) -> JSONMembers {
    [
      "signedPayload": notification.signedPayload,
      // There are never more than six attempts.
      "sendAttempts": delivery.attempts.suffix(6).map { JSONMembers($0) },
    ]
  }
}

/// The parameters in the body of a request for notification history.
struct NotificationFilter {
  /// The dates from the start, included, to the end, excluded.
  let dates: Range<Timestamp>
  private let type: String?
  private let subtype: String?
  private let transactionId: String?
  private let onlyFailures: Bool

  private static let day: Double = 86_400

  init(_ body: JSONValue, _ call: EndpointCall) throws {
    let start = try EndpointCall.instant(body["startDate"]?.int64, orElse: .invalidStartDate)
    let end = try EndpointCall.instant(body["endDate"]?.int64, orElse: .invalidEndDate)
    guard start < end else { throw Refusal.startDateAfterEndDate }
    let days: Double = call.configuration.environment == .production ? 180 : 30
    guard start >= call.now.addingSeconds(-days * Self.day) else { throw Refusal.startDateTooFarInPast }
    dates = start..<end
    type = body["notificationType"]?.string
    subtype = body["notificationSubtype"]?.string
    guard [type, subtype].compactMap(\.self).allSatisfy(Self.isSpelledAsEnumeration),
      subtype == nil || type != nil
    else { throw Refusal.invalidNotificationType }
    transactionId = body["transactionId"]?.string
    if let transactionId {
      guard type == nil else { throw Refusal.multipleFiltersSupplied }
      guard EndpointCall.isTransactionIdentifier(transactionId) else { throw Refusal.invalidTransactionId }
    }
    onlyFailures = body["onlyFailures"]?.flag ?? false
  }

  func accepts(_ notification: SignedNotification, _ delivery: DeliveryRecord) -> Bool {
    if let type, notification.type.rawValue != type { return false }
    if let subtype, notification.subtype?.rawValue != subtype { return false }
    if let transactionId, notification.transactionIdentifier != transactionId,
      notification.originalTransactionIdentifier != transactionId
    {
      return false
    }
    if onlyFailures, delivery.attempts.last?.sendAttemptResult == "SUCCESS" { return false }
    return true
  }

  /// Returns `true` if a text is spelled like Apple's enumerations: `DID_RENEW`.
  private static func isSpelledAsEnumeration(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { 0x41...0x5A ~= $0 || $0 == UInt8(ascii: "_") }
  }
}
