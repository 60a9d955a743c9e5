// SPDX-License-Identifier: Apache-2.0

#if Server
  package import AuditTrail
  internal import Entitlements
  internal import GooglePlay
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptVerification

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
    }

    private let entitlements: ServiceEntitlements
    private let auditLog: AuditLog?

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
      switch (app.appStoreNotifications, app.googlePlayNotifications) {
      case (let receiver?, nil): await receive(body, receiver, app)
      case (nil, let receiver?): await receive(body, authorization: authorization, receiver, app)
      case (let appStore?, let googlePlay?):
        switch Self.sender(of: body) {
        case .appStore: await receive(body, appStore, app)
        case .googlePlay: await receive(body, authorization: authorization, googlePlay, app)
        case nil:
          Answer(400, .refused, "The body is a notification neither of the App Store nor of Google Play.")
        }
      case (nil, nil): Answer(404, .refused, "The app takes no notifications.")
      }
    }

    private enum Sender { case appStore, googlePlay }

    /// The store that a body comes from, judged by its form.
    ///
    /// The header field `Authorization` cannot decide this, because a proxy may add it. The store's receiver then
    /// decides whether the notification is genuine.
    private static func sender(of body: [UInt8]) -> Sender? {
      guard let value = try? JSONValue(parsing: body) else { return nil }
      if value["signedPayload"] != nil { return .appStore }
      return value["message"] != nil ? .googlePlay : nil
    }

    private func receive(_ body: [UInt8], _ receiver: NotificationReceiver, _ app: AppConfiguration) async
      -> Answer
    {
      let result = Result { () throws(NotificationRejection) in try receiver.receive(body) }
      do {
        try await enter(result, body, receiver, app)
        let notification = try result.get()
        let isNew = try await entitlements.record(notification, app: app.name)
        return Answer(
          NotificationReceiver.acceptedHTTPStatus, isNew ? .done : .repeated, id: notification.uuid?.rawValue,
          event: notification.type?.rawValue)
      } catch let rejection as NotificationRejection {
        return Answer(
          rejection.httpStatus, rejection.httpStatus == 503 ? .undetermined : .refused, rejection.description)
      } catch {
        return Answer(503, .failed, id: (try? result.get())?.uuid?.rawValue, "\(error)")
      }
    }

    /// Stores the verdict in the audit trail.
    ///
    /// Notifications without a signature of the store are not stored, because anybody can send them.
    private func enter(
      _ result: Result<AppStoreNotification, NotificationRejection>, _ body: [UInt8],
      _ receiver: NotificationReceiver, _ app: AppConfiguration
    ) async throws {
      guard app.recordsVerdicts, let auditLog else { return }
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
          verdict, receipt: body, policyDigest: SHA256Digest(of: receiver.verifier.policy),
          at: entitlements.clock(), options: app.recording))
    }

    private func receive(
      _ body: [UInt8], authorization: String?, _ receiver: DeveloperNotificationReceiver,
      _ app: AppConfiguration
    ) async -> Answer {
      let message: DeveloperMessage
      do throws(PushRejection) {
        message = try await receiver.receive(authorization: authorization, body: body)
      } catch {
        return Answer(
          error.httpStatus, error.httpStatus == 503 ? .undetermined : .refused, error.description)
      }
      func answer(_ status: Int, _ outcome: Answer.Outcome, _ text: String? = nil) -> Answer {
        Answer(status, outcome, id: message.messageId, event: message.event, text)
      }
      let accepted = DeveloperNotificationReceiver.acceptedHTTPStatus
      do {
        // Google Play is asked once for each message, unless its deliveries overlap.
        if try await entitlements.isRecorded(messageId: message.messageId, app: app.name) {
          return answer(accepted, .repeated)
        }
        let update = try await receiver.update(for: message)
        let isNew = try await entitlements.record(
          messageId: message.messageId, update.change, app: app.name)
        return answer(accepted, isNew ? .done : .repeated)
      } catch let error as GooglePlayError {
        return answer(503, .undetermined, error.description)
      } catch {
        return answer(503, .failed, "\(error)")
      }
    }
  }
#endif
