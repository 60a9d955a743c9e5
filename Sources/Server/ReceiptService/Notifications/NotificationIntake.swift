// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import ReceiptCodec

  /// Receives the stores' notifications.
  ///
  /// Each notification is verified, stored in the audit trail if its app records verdicts, and recorded together with
  /// its effect on the entitlements, and with its forwarding to an old system, in one commit. Only then is it acknowledged. If a notification could not be checked
  /// or stored, the answer makes the store deliver it again.
  package struct NotificationIntake: Sendable {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?

    /// Processes the body of a request, with the header field `Authorization`, which Google's pushes require.
    package func receive(
      app: AppConfiguration, authorization: String?, contentType: String? = nil, body: [UInt8]
    ) async -> Answer {
      let all: [(any StoreNotifications)?] = [app.appStoreNotifications, app.googlePlayNotifications]
      let receivers = all.compactMap(\.self)
      guard var receiver = receivers.first else {
        return .refusal(404, "The app takes no notifications.")
      }
      if receivers.count > 1 {
        // The header field `Authorization` cannot decide this, because a proxy may add it. The store's receiver then
        // decides whether the notification is genuine.
        let json = try? JSONValue(parsing: body)
        guard let json, let sender = receivers.first(where: { type(of: $0).isForm(of: json) }) else {
          let stores = receivers.map { type(of: $0).storeName }.joined(separator: " nor of ")
          return .refusal(400, "The body is a notification neither of \(stores).")
        }
        receiver = sender
      }
      return await receiver.receive(
        StoreDelivery(body: body, contentType: contentType, authorization: authorization), for: app, self)
    }
  }

  extension NotificationIntake.Answer {
    /// The answer to a notification that was refused, or could not be checked if the status is 503.
    static func refusal(_ status: Int, _ message: String) -> Self {
      Self(status: status, outcome: status == 503 ? .undetermined : .refused, message: message)
    }
  }

  /// A receiver of the notifications of a store.
  protocol StoreNotifications: Sendable {
    static var storeName: String { get }
    /// Returns `true` if a body has the form of the store's notifications.
    static func isForm(of body: JSONValue) -> Bool

    /// Verifies and records a notification, with what is to be forwarded of it.
    func receive(
      _ delivery: StoreDelivery, for app: AppConfiguration, _ intake: NotificationIntake
    ) async -> NotificationIntake.Answer
  }
#endif
