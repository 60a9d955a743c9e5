// SPDX-License-Identifier: Apache-2.0

#if Server
  package import Entitlements
  package import GooglePlay
  internal import ReceiptCodec

  extension DeveloperNotificationReceiver: StoreNotifications {
    static var storeName: String { "Google Play" }
    static func isForm(of body: JSONValue) -> Bool { body["message"] != nil }

    func receive(
      _ delivery: StoreDelivery, for app: AppConfiguration, _ intake: NotificationIntake
    ) async -> NotificationIntake.Answer {
      let message: DeveloperMessage
      do throws(PushRejection) {
        message = try await receive(authorization: delivery.authorization, body: delivery.body)
      } catch {
        return .refusal(error.httpStatus, error.description)
      }
      func answer(
        _ status: Int, _ outcome: NotificationIntake.Outcome, _ text: String? = nil
      ) -> NotificationIntake.Answer {
        NotificationIntake.Answer(
          status: status, outcome: outcome, id: message.messageId, event: message.event, message: text)
      }
      do {
        // Google Play is asked once for each message, unless its deliveries overlap.
        if try await intake.entitlements.isRecorded(messageId: message.messageId, app: app.name) {
          return answer(Self.acceptedHTTPStatus, .repeated)
        }
        let update = try await update(for: message)
        let isNew = try await intake.entitlements.record(
          messageId: message.messageId, update.change, app: app.name, forwarding: delivery)
        return answer(Self.acceptedHTTPStatus, isNew ? .done : .repeated)
      } catch let error as GooglePlayError {
        return answer(503, .undetermined, error.description)
      } catch {
        return answer(503, .failed, "\(error)")
      }
    }
  }

  extension ServiceEntitlements {
    /// Records a message of Google Play as processed, and merges the new facts; returns `false` if it was recorded
    /// before.
    @discardableResult
    package func record(
      messageId: String, _ change: EntitlementLedger, app: String, forwarding delivery: StoreDelivery? = nil
    ) async throws -> Bool {
      try await record(key: Self.key(messageId: messageId), change, app: app, forwarding: delivery)
    }

    /// Returns `true` if a message of Google Play was processed before.
    package func isRecorded(messageId: String, app: String) async throws -> Bool {
      try await !database.rows(
        "SELECT 1 FROM notifications WHERE app = $1 AND key = $2", .text(app),
        .bytes(Self.key(messageId: messageId))
      ).isEmpty
    }

    /// The key of a message, which begins with a zero byte.
    ///
    /// A key of the App Store does so only if its digest happens to.
    private static func key(messageId: String) -> [UInt8] { [0] + Array(messageId.utf8) }
  }

  extension StoredEntitlement {
    /// Asks Google Play about the purchase; `nil` if it belongs to another store.
    package func ask(_ client: GooglePlayClient) async throws -> EntitlementLedger? {
      guard let purchase = ledger.playEntitlements.first else { return nil }
      return try await client.calling(for: purchase.id.packageName).answer(
        about: purchase.id, isSubscription: purchase.isSubscription
      ).facts
    }
  }
#endif
