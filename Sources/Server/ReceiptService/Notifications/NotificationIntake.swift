// SPDX-License-Identifier: Apache-2.0

#if Server
  package import AuditTrail
  internal import ReceiptCodec

  /// Receives the stores' notifications.
  ///
  /// Each notification is verified, stored in the audit trail if its app records verdicts, and recorded together with
  /// its effect on the entitlements in one commit. Only then is it acknowledged. If a notification could not be checked
  /// or stored, the answer makes the store deliver it again.
  package struct NotificationIntake: Sendable {
    /// The answer to a delivery.
    package struct Answer: Sendable, Hashable {
      /// The outcome of a delivery.
      package enum Outcome: String, Sendable, Hashable {
        /// The effect of the notification is stored.
        case done
        /// The notification was recorded before.
        case `repeated`
        /// The notification is refused permanently.
        case refused
        /// The notification could not be checked; the store must deliver it again.
        case undetermined
        /// The notification could not be stored; the store must deliver it again.
        case failed
      }

      /// The status to answer with.
      package let status: Int
      /// The outcome of a delivery.
      package let outcome: Outcome
      /// The `notificationUUID`, or the identifier of Google Play's message.
      package var id: String?
      /// The type of the event.
      package var event: String?
      /// The reason why it was not accepted, for the log.
      ///
      /// It may quote the body; do not send it back.
      package var message: String?

      init(
        _ status: Int, _ outcome: Outcome, id: String? = nil, event: String? = nil, _ message: String? = nil
      ) {
        self.status = status
        self.outcome = outcome
        self.id = id
        self.event = event
        self.message = message
      }

      /// The answer to a notification that was refused, or could not be checked if the status is 503.
      init(refusal status: Int, _ message: String) {
        self.init(status, status == 503 ? .undetermined : .refused, message)
      }
    }

    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?

    /// Creates an intake.
    ///
    /// - Parameters:
    ///   - entitlements: The entitlements, which record notifications and their effect.
    ///   - auditLog: The audit trail for apps that record verdicts.
    package init(_ entitlements: ServiceEntitlements, auditLog: AuditLog?) {
      self.entitlements = entitlements
      self.auditLog = auditLog
    }

    /// Processes the body of a request.
    ///
    /// - Parameters:
    ///   - app: The app in the URL.
    ///   - authorization: The header field `Authorization`, which Google's pushes require.
    ///   - body: The body.
    /// - Returns: The answer to send.
    package func receive(app: AppConfiguration, authorization: String?, body: [UInt8]) async -> Answer {
      let receivers = app.notificationReceivers
      guard var receiver = receivers.first else {
        return Answer(404, .refused, "The app takes no notifications.")
      }
      if receivers.count > 1 {
        // The header field `Authorization` cannot decide this, because a proxy may add it. The store's receiver then
        // decides whether the notification is genuine.
        let json = try? JSONValue(parsing: body)
        guard let json, let sender = receivers.first(where: { type(of: $0).isForm(of: json) }) else {
          let stores = receivers.map { type(of: $0).storeName }.joined(separator: " nor of ")
          return Answer(400, .refused, "The body is a notification neither of \(stores).")
        }
        receiver = sender
      }
      return await receiver.receive(body, authorization: authorization, for: app, self)
    }
  }

  /// A receiver of the notifications of a store.
  protocol StoreNotifications: Sendable {
    static var storeName: String { get }
    /// Returns `true` if a body has the form of the store's notifications.
    static func isForm(of body: JSONValue) -> Bool

    /// Verifies and records a notification.
    func receive(
      _ body: [UInt8], authorization: String?, for app: AppConfiguration, _ intake: NotificationIntake
    ) async -> NotificationIntake.Answer
  }

  extension AppConfiguration {
    /// The receivers of notifications, one for each store.
    var notificationReceivers: [any StoreNotifications] {
      let all: [(any StoreNotifications)?] = [appStoreNotifications, googlePlayNotifications]
      return all.compactMap(\.self)
    }
  }
#endif
