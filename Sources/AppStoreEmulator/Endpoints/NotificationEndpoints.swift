// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning
internal import Storefront

/// Test notifications and the history of notifications.
enum NotificationEndpoints {
  static let routes = [
    Route("POST", "/inApps/v1/notifications/test", requestTest),
    Route("GET", "/inApps/v1/notifications/test/{}", testStatus),
    Route("POST", "/inApps/v1/notifications/history", history),
  ]

  private static let day: Double = 86_400
  private static let tokenLife = 183 * day
  private static let pageTokenLife = day

  @Sendable static func requestTest(_ call: EndpointCall) async throws(EmulatorError) -> EmulatorResponse {
    guard call.store.state.withState({ $0.notificationURL }) != nil else { throw .notificationURLNotFound }
    let configuration = call.configuration
    let test = Notification().with {
      $0.notificationType = .test
      $0.data = NotificationData().with {
        $0.environment = configuration.environment
        $0.appAppleId = configuration.appAppleId
        $0.bundleId = configuration.bundleId
      }
    }
    let posted = try await call.purchases { (store) async throws(LocalStoreError) in
      try await store.post(test)
    }
    let token = "\(posted.uuid.rawValue)_\(Int64(call.now.wholeMilliseconds / 1000))"
    call.store.state.withState {
      $0.testNotifications[token] = .init(number: posted.number, pendingAnswers: $0.pendingAnswers)
    }
    return .json(.members(("testNotificationToken", .string(token))))
  }

  @Sendable static func testStatus(_ call: EndpointCall) async throws(EmulatorError) -> EmulatorResponse {
    let token = call.parameter()
    let parts = token.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, UUIDString(rawValue: String(parts[0])).uuid != nil, let seconds = Int64(parts[1]),
      call.now < Timestamp(secondsSince1970: seconds).addingSeconds(tokenLife)
    else { throw .invalidTestNotificationToken }
    let test = try call.store.state.change { (state) throws(EmulatorError) in
      guard let test = state.testNotifications[token] else { throw .testNotificationNotFound }
      guard test.pendingAnswers == 0 else {
        state.testNotifications[token]?.pendingAnswers -= 1
        throw .testNotificationNotFound
      }
      return test
    }
    let sends = call.store.sender != nil
    // Where an attempt is due or under way, its end is waited for.
    try? await call.store.sender?.sendDue()
    let (found, delivery) = try await call.purchases { (store) async throws(LocalStoreError) in
      (
        try await store.notifications(after: test.number - 1, limit: 1).first,
        try await store.delivery(of: test.number)
      )
    }
    // Apple's server has nothing to say before the first attempt.
    guard let found, !sends || !delivery.attempts.isEmpty else { throw .testNotificationNotFound }
    return .json(item(found, delivery))
  }

  @Sendable static func history(_ call: EndpointCall) async throws(EmulatorError) -> EmulatorResponse {
    let filter = try NotificationFilter(try call.body(), call)
    let query = [String(decoding: call.request.body, as: UTF8.self)]
    var last: (date: Timestamp, number: Int64)?
    if let text = try call.value("paginationToken", orElse: .invalidPaginationToken) {
      guard let token = PageToken(text, query: query), token.position >= 0 else {
        throw .invalidPaginationToken
      }
      guard call.now < token.issued.addingSeconds(pageTokenLife) else { throw .paginationTokenExpired }
      let number = token.position
      let found = try await call.purchases { (store) async throws(LocalStoreError) in
        try await store.notifications(after: number - 1, limit: 1).first
      }
      last = found.map { ($0.signedDate, number) }
    }
    let page = try await call.purchases { [last] (store) async throws(LocalStoreError) in
      try await store.notifications(signedIn: filter.dates, after: last, limit: PageToken.pageSize) {
        filter.accepts($0, $1)
      }
    }
    let token = page.items.last.flatMap {
      page.hasMore ? PageToken(position: $0.notification.number, issued: call.now).text(query: query) : nil
    }
    return .json(
      .members(
        ("paginationToken", token.map { .string($0) }), ("hasMore", .bool(page.hasMore)),
        ("notificationHistory", .array(page.items.map { item($0.notification, $0.delivery) }))))
  }

  private static func item(_ notification: SignedNotification, _ delivery: DeliveryRecord) -> JSONValue {
    .members(
      ("signedPayload", .string(notification.signedPayload)),
      (
        "sendAttempts",
        // There are never more than six attempts.
        .array(
          delivery.attempts.suffix(6).map {
            .members(
              ("attemptDate", .date($0.attemptDate)), ("sendAttemptResult", .string($0.sendAttemptResult)))
          })
      ))
  }
}

/// The parameters in the body of a request for notification history.
struct NotificationFilter {
  /// From the first to before the second.
  let dates: Range<Timestamp>
  private let type: String?
  private let subtype: String?
  private let transactionId: String?
  private let onlyFailures: Bool

  private static let day: Double = 86_400

  init(_ body: JSONValue, _ call: EndpointCall) throws(EmulatorError) {
    let start = try Self.instant(body["startDate"], orElse: .invalidStartDate)
    let end = try Self.instant(body["endDate"], orElse: .invalidEndDate)
    guard start < end else { throw .startDateAfterEndDate }
    let days: Double = call.configuration.environment == .production ? 180 : 30
    guard start >= call.now.addingSeconds(-days * Self.day) else { throw .startDateTooFarInPast }
    dates = start..<end
    type = Self.text(body["notificationType"])
    subtype = Self.text(body["notificationSubtype"])
    let names = CharacterNames.self
    guard type.map(names.isSpelledAsEnumeration) ?? true, subtype.map(names.isSpelledAsEnumeration) ?? true,
      subtype == nil || type != nil
    else { throw .invalidNotificationType }
    transactionId = Self.text(body["transactionId"])
    if let transactionId {
      guard type == nil else { throw .multipleFiltersSupplied }
      guard EndpointCall.isTransactionIdentifier(transactionId) else { throw .invalidTransactionId }
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

  private static func instant(
    _ value: JSONValue?, orElse error: EmulatorError
  ) throws(EmulatorError) -> Timestamp {
    guard let milliseconds = value?.int64, 0..<1 << 53 ~= milliseconds else { throw error }
    return Timestamp(millisecondsSince1970: Double(milliseconds))
  }

  private static func text(_ value: JSONValue?) -> String? { value?.string }
}

/// Whether a text is spelled like Apple's enumerations: `DID_RENEW`.
enum CharacterNames {
  static func isSpelledAsEnumeration(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { 0x41...0x5A ~= $0 || $0 == UInt8(ascii: "_") }
  }
}
