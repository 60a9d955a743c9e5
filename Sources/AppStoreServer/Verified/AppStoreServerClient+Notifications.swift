// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A notification and the attempts to deliver it.
public struct SentNotification: Sendable, Hashable {
  /// The notification; its signed parts are verified, too, and in `receipt.nested`.
  public let notification: VerifiedPayload<Notification>
  /// The attempts to deliver it. The App Store does not sign them.
  public let sendAttempts: [SendAttempt]
}

/// Notifications that were sent.
extension AppStoreServerClient {
  /// What became of a test notification.
  ///
  /// - Parameter testNotificationToken: From ``AppStoreServerCalls/requestTestNotification()``.
  /// - Returns: The notification, and the attempts to deliver it.
  /// - Throws: ``AppStoreServerError``.
  public func testNotificationStatus(
    _ testNotificationToken: String
  ) async throws(AppStoreServerError) -> SentNotification {
    let answer = try await raw.send(
      AppStoreServerCall(.testNotificationStatus, testNotificationToken),
      as: CheckTestNotificationResponse.self)
    let notification: VerifiedPayload<Notification> = try verification(of: answer)
      .verify(answer.value.signedPayload, at: "$.signedPayload")
    return SentNotification(notification: notification, sendAttempts: answer.value.sendAttempts ?? [])
  }

  /// The notifications that were sent, page after page as they are needed.
  public func notificationHistory(
    _ request: NotificationHistoryRequest
  ) -> AppStoreServerPages<SentNotification> {
    AppStoreServerPages { token throws(AppStoreServerError) in
      let answer = try await raw.send(
        .notificationHistory(request, paginationToken: token), as: NotificationHistoryResponse.self)
      let page = answer.value
      let verification = verification(of: answer)
      let items = page.notificationHistory ?? []
      let place = { (index: Int) in "$.notificationHistory[\(index)].signedPayload" }
      let notifications: [VerifiedPayload<Notification>] = try verification.verify(
        try verification.demandAll(items.map(\.signedPayload), at: place), at: place)
      return try AppStoreServerPage(
        elements: zip(items, notifications).map {
          SentNotification(notification: $1, sendAttempts: $0.sendAttempts ?? [])
        },
        hasMore: page.hasMore, next: page.paginationToken,
        nextName: "paginationToken", of: answer)
    }
  }
}
