// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning

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

  @Sendable static func requestTest(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let uuid = DeveloperSigner.randomNonce()
    let seconds = Int64(call.now.wholeMilliseconds / 1000)
    let token = "\(uuid.rawValue)_\(seconds)"
    let configuration = call.configuration
    try call.store.state.change { (state) throws(EmulatorError) in
      guard state.notificationURL != nil else { throw .notificationURLNotFound }
      let notification = Notification().with {
        $0.notificationType = .test
        $0.notificationUUID = uuid
        $0.version = "2.0"
        $0.signedDate = call.now
        $0.data = NotificationData().with {
          $0.environment = configuration.environment
          $0.appAppleId = configuration.appAppleId
          $0.bundleId = configuration.bundleId
        }
      }
      state.testNotifications[token] = EmulatorState.TestNotification(
        notification: notification, attempts: [EmulatorState.SendAttempt(date: call.now)],
        pendingAnswers: state.pendingAnswers)
      state.add(notification: notification, attempts: [EmulatorState.SendAttempt(date: call.now)])
    }
    return .json(.members(("testNotificationToken", .string(token))))
  }

  @Sendable static func testStatus(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
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
    return .json(item(test.notification, test.attempts, call))
  }

  @Sendable static func history(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let filter = try NotificationFilter(try call.body(), call)
    let query = [String(decoding: call.request.body, as: UTF8.self)]
    var start = 0
    if let text = try call.value("paginationToken", orElse: .invalidPaginationToken) {
      guard let token = PageToken(text, query: query), token.position >= 0 else {
        throw .invalidPaginationToken
      }
      guard call.now < token.issued.addingSeconds(pageTokenLife) else { throw .paginationTokenExpired }
      start = Int(token.position)
    }
    let (page, next) = call.store.state.withState { state -> ([EmulatorState.NotificationRecord], Int?) in
      var page: [EmulatorState.NotificationRecord] = []
      for index in state.notifications.indices.dropFirst(start)
      where filter.accepts(state.notifications[index]) {
        if page.count == PageToken.pageSize { return (page, index) }
        page.append(state.notifications[index])
      }
      return (page, nil)
    }
    let token = next.map { PageToken(position: Int64($0), issued: call.now).text(query: query) }
    return .json(
      .members(
        ("paginationToken", token.map { .string($0) }), ("hasMore", .bool(next != nil)),
        ("notificationHistory", .array(page.map { item($0.notification, $0.attempts, call) }))))
  }

  private static func item(
    _ notification: Notification, _ attempts: [EmulatorState.SendAttempt], _ call: EndpointCall
  ) -> JSONValue {
    // There are never more than six attempts.
    .members(
      ("signedPayload", call.sign(notification)), ("sendAttempts", .array(attempts.suffix(6).map(\.json))))
  }
}

/// The parameters in the body of a request for notification history.
struct NotificationFilter {
  private let start: Timestamp
  private let end: Timestamp
  private let type: String?
  private let subtype: String?
  private let transactionId: String?
  private let onlyFailures: Bool

  private static let day: Double = 86_400

  init(_ body: JSONValue, _ call: EndpointCall) throws(EmulatorError) {
    start = try Self.instant(body["startDate"], orElse: .invalidStartDate)
    end = try Self.instant(body["endDate"], orElse: .invalidEndDate)
    guard start < end else { throw .startDateAfterEndDate }
    let days: Double = call.configuration.environment == .production ? 180 : 30
    guard start >= call.now.addingSeconds(-days * Self.day) else { throw .startDateTooFarInPast }
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

  func accepts(_ record: EmulatorState.NotificationRecord) -> Bool {
    let notification = record.notification
    guard let signed = notification.signedDate, signed >= start, signed < end else { return false }
    if let type, notification.notificationType?.rawValue != type { return false }
    if let subtype, notification.subtype?.rawValue != subtype { return false }
    if let transactionId, !record.transactionIds.contains(transactionId) { return false }
    if onlyFailures, record.attempts.last?.result == "SUCCESS" { return false }
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
