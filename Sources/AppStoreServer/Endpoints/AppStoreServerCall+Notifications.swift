// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension AppStoreServerCall
where Response == SendTestNotificationResponse, Value == SendTestNotificationResponse {
  /// Requests a notification of the type `TEST`, which goes to the app's URL for notifications.
  public static func requestTestNotification() -> Self { Self(.requestTestNotification) }
}

extension AppStoreServerCall where Response == CheckTestNotificationResponse, Value == SentNotification {
  /// The delivery of a test notification.
  ///
  /// - Parameter testNotificationToken: From ``requestTestNotification()``.
  /// - Returns: The call.
  public static func testNotificationStatus(_ testNotificationToken: String) -> Self {
    Self(.testNotificationStatus, AppStoreServerRequest(testNotificationToken)) {
      (response, parts) throws(AppStoreServerError) in
      SentNotification(
        notification: try parts.verify(response.signedPayload, at: "$.signedPayload"),
        sendAttempts: response.sendAttempts ?? [])
    }
  }
}

extension AppStoreServerPagedCall where Response == NotificationHistoryResponse, Element == SentNotification {
  /// The notifications that were sent.
  public static func notificationHistory(_ request: NotificationHistoryRequest) -> Self {
    Self { token in
      let request = AppStoreServerRequest(
        query: token.map { [("paginationToken", $0)] } ?? [], json: request)
      return AppStoreServerCall(.notificationHistory, request) {
        (response, parts) throws(AppStoreServerError) in
        let place = { (index: Int) in "$.notificationHistory[\(index)].signedPayload" }
        let items = response.notificationHistory ?? []
        var compact: [String] = []
        for (index, item) in items.enumerated() {
          compact.append(try parts.require(item.signedPayload, at: place(index)))
        }
        let notifications = try parts.verify(compact, at: place, as: Notification.self)
        let sent = zip(items, notifications).map {
          SentNotification(notification: $1, sendAttempts: $0.sendAttempts ?? [])
        }
        return try parts.page(
          sent, hasMore: response.hasMore, next: response.paginationToken, named: "paginationToken")
      }
    }
  }
}
