// SPDX-License-Identifier: Apache-2.0

#if Server
  package import AppStoreServer
  internal import AuditTrail
  package import Entitlements
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptVerification

  extension NotificationReceiver: StoreNotifications {
    static var storeName: String { "the App Store" }
    static func isForm(of body: JSONValue) -> Bool { body["signedPayload"] != nil }

    func receive(
      _ delivery: StoreDelivery, for app: AppConfiguration, _ intake: NotificationIntake
    ) async -> NotificationIntake.Answer {
      let body = delivery.body
      // The App Store sends no authorization: one would be that of a proxy.
      let forwarded = StoreDelivery(body: body, contentType: delivery.contentType)
      let result = Result { () throws(NotificationRejection) in try receive(body) }
      do {
        try await enter(result, body, app, intake)
        let notification = try result.get()
        let isNew = try await intake.entitlements.record(
          notification, app: app.name, forwarding: forwarded)
        return NotificationIntake.Answer(
          status: Self.acceptedHTTPStatus, outcome: isNew ? .done : .repeated,
          id: notification.uuid?.rawValue, event: notification.type?.rawValue)
      } catch let rejection as NotificationRejection {
        return .refusal(rejection.httpStatus, rejection.description)
      } catch {
        return NotificationIntake.Answer(
          status: 503, outcome: .failed, id: (try? result.get())?.uuid?.rawValue, message: "\(error)")
      }
    }

    /// Stores the verdict in the audit trail.
    ///
    /// Notifications without a signature of the store are not stored, because anybody can send them.
    private func enter(
      _ result: Result<AppStoreNotification, NotificationRejection>, _ body: [UInt8], _ app: AppConfiguration,
      _ intake: NotificationIntake
    ) async throws {
      guard app.recordsVerdicts, let auditLog = intake.auditLog else { return }
      let verdict: Verdict
      switch result {
      case .success(let notification): verdict = .valid(notification.receipt)
      case .failure(.invalid(let receipt)): verdict = .invalid(receipt)
      case .failure(.undetermined(let receipt)): verdict = .undetermined(receipt)
      case .failure: return
      }
      guard verdict.signatureVerified != nil else { return }
      try await auditLog.append(
        [AuditRecord](
          verdict, receipt: body, policyDigest: SHA256Digest(of: verifier.policy),
          at: intake.entitlements.clock(), options: app.recording))
    }
  }

  extension ServiceEntitlements {
    /// Records a notification as processed, and merges its facts; returns `false` if it was recorded before.
    @discardableResult
    package func record(
      _ notification: AppStoreNotification, app: String, forwarding delivery: StoreDelivery? = nil
    ) async throws -> Bool {
      var change = EntitlementLedger()
      change.apply(notification)
      change.applyRefundReview(notification)
      return try await record(key: notification.recordedKey, change, app: app, forwarding: delivery)
    }
  }

  extension StoredEntitlement {
    /// Asks the App Store about the subscription (Get All Subscription Statuses); `nil` if it belongs to another store
    /// or environment.
    package func ask(_ client: AppStoreServerClient) async throws -> EntitlementLedger? {
      guard let entitlement = ledger.entitlements.first,
        entitlement.id.environment == client.raw.address.environment
      else { return nil }
      var answer = EntitlementLedger()
      let subscriptions: [VerifiedSubscription]
      do throws(AppStoreServerError) {
        subscriptions = try await client.send(.subscriptionStatuses(of: entitlement.originalTransactionId))
      } catch {
        guard error.isUnknownPurchase else { throw error }
        throw UnknownToStore()
      }
      for subscription in subscriptions {
        try answer.apply(
          transaction: subscription.purchase.transaction.receipt,
          renewalInfo: subscription.purchase.renewalInfo?.receipt, status: subscription.status)
      }
      return answer
    }
  }

  extension AppStoreServerError {
    /// `true` if the App Store reports that it does not know the purchase.
    fileprivate var isUnknownPurchase: Bool {
      guard case .response(let code, _) = cause else { return false }
      return [
        .transactionIdNotFound, .originalTransactionIdNotFound, .accountNotFound, .invalidTransactionId,
        .invalidOriginalTransactionId,
      ].contains(code)
    }
  }
#endif
