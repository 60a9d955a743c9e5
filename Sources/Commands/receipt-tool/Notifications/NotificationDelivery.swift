// SPDX-License-Identifier: Apache-2.0

import Entitlements
import EntitlementsSQLite
import GooglePlay
import ReceiptCodec
import ReceiptVerification
import SQLite
import Synchronization

/// Processes each request in three steps: verify, forward, record.
///
/// The order makes it safe: the work is done before it is recorded, and recorded before it is acknowledged.
final class NotificationDelivery: Sendable {
  /// The outcome of a delivery.
  enum Outcome: String {
    /// The work is done, and was recorded now.
    case done
    /// The notification was recorded earlier; nothing was done.
    case `repeated`
    /// The notification is refused permanently.
    case refused
    /// The notification could not be checked; the sender must deliver it again.
    case undetermined
    /// The work, or recording it, failed; the sender must deliver it again.
    case failed
    /// Another delivery of the same notification is being processed; the sender must deliver it again.
    case busy
  }

  /// The subject of a delivery.
  enum Subject {
    case appStore(AppStoreNotification)
    case googlePlay(DeveloperMessage, PlayEntitlement?)
  }

  /// The report of a delivery.
  struct Report {
    let outcome: Outcome
    let status: Int
    var subject: Subject?
    var message: String?
    /// Indicates whether the state of the storage is unknown.
    ///
    /// The process must end then.
    var isFatal = false
  }

  /// The path for Google Play's notifications.
  ///
  /// The App Store's may use any other path.
  static let playPath = "/play"

  private let appStore: NotificationReceiver?
  private let googlePlay: DeveloperNotificationReceiver?
  private let store: EntitlementStore
  private let forward: NotificationForward?
  /// The keys of the notifications being processed.
  ///
  /// Those of Google Play begin with a zero byte; no key of the App Store does.
  private let current = Mutex<Set<[UInt8]>>([])

  init(
    appStore: NotificationReceiver?, googlePlay: DeveloperNotificationReceiver?, store: EntitlementStore,
    forward: NotificationForward?
  ) {
    self.appStore = appStore
    self.googlePlay = googlePlay
    self.store = store
    self.forward = forward
  }

  func deliver(_ request: HTTPListener.Request) async -> Report {
    if let googlePlay, request.path == Self.playPath { return await deliver(request, to: googlePlay) }
    guard let appStore else {
      return Report(outcome: .refused, status: 404, message: "Notifications come to \(Self.playPath).")
    }
    return await deliver(request.body, to: appStore)
  }

  private func deliver(_ body: [UInt8], to receiver: NotificationReceiver) async -> Report {
    let notification: AppStoreNotification
    do throws(NotificationRejection) {
      notification = try receiver.receive(body)
    } catch {
      let isOpen = if case .undetermined = error { true } else { false }
      return Report(
        outcome: isOpen ? .undetermined : .refused, status: error.httpStatus, message: error.description)
    }
    let subject = Subject.appStore(notification)
    return await deal(with: notification.recordedKey, subject) {
      if try store.isRecorded(notification) { return .repeated(subject) }
      try await forward?.send(Self.document(notification), uuid: notification.uuid?.rawValue ?? "")
      return try store.record(notification) ? .done(subject) : .repeated(subject)
    }
  }

  private func deliver(
    _ request: HTTPListener.Request, to receiver: DeveloperNotificationReceiver
  ) async -> Report {
    let message: DeveloperMessage
    do throws(PushRejection) {
      message = try await receiver.receive(authorization: request.authorization, body: request.body)
    } catch {
      return Report(
        outcome: error.httpStatus == 503 ? .undetermined : .refused, status: error.httpStatus,
        message: error.description)
    }
    return await deal(with: [0] + Array(message.messageId.utf8), .googlePlay(message, nil)) {
      if try store.isRecorded(messageId: message.messageId) { return .repeated(.googlePlay(message, nil)) }
      let update = try await receiver.update(for: message)
      let subject = Subject.googlePlay(message, update.entitlement)
      try await forward?.send(Self.document(update), uuid: message.messageId)
      return try store.record(messageId: message.messageId, update.change)
        ? .done(subject) : .repeated(subject)
    }
  }

  /// Processes a notification, unless another delivery of it is being processed.
  private func deal(
    with key: [UInt8], _ subject: Subject, _ work: () async throws -> Report
  ) async -> Report {
    guard current.withLock({ $0.insert(key).inserted }) else {
      return Report(outcome: .busy, status: 503, subject: subject)
    }
    defer { current.withLock { _ = $0.remove(key) } }
    do {
      return try await work()
    } catch let error as GooglePlayError {
      return Report(outcome: .undetermined, status: 503, subject: subject, message: error.description)
    } catch {
      let message = (error as? NotificationForward.Failure)?.message ?? (error as? SQLiteError)?.message
      let code = (error as? SQLiteError)?.code
      return Report(
        outcome: .failed, status: 503, subject: subject, message: message ?? "\(error)",
        isFatal: code != nil && code != .full && code != .busy)
    }
  }

  /// The JSON object to forward: the decoded notification and its signed parts, and the whole notification as signed.
  private static func document(_ notification: AppStoreNotification) -> [UInt8] {
    let signed = String(decoding: notification.receipt.encoded, as: UTF8.self)
    let members: [(String, [UInt8]?)] = [
      ("notification", notification.notification.encodedJSON()),
      ("transaction", notification.transaction?.encodedJSON()),
      ("renewalInfo", notification.renewalInfo?.encodedJSON()),
      ("appTransaction", notification.appTransaction?.encodedJSON()),
      ("signedPayload", Array("\"\(signed)\"".utf8)),
    ]
    return object(members)
  }

  /// The JSON object for a message of Google Play: the notification, and the purchase as Google Play returned it.
  private static func document(_ update: DeveloperUpdate) -> [UInt8] {
    object([
      ("developerNotification", update.message.notification.encodedJSON()),
      ("messageId", JSONValue.string(update.message.messageId).encoded()),
      ("purchase", update.entitlement.map(purchase)),
    ])
  }

  private static func purchase(_ entitlement: PlayEntitlement) -> [UInt8] {
    var object = JSONWriter()
    object.beginObject()
    entitlement.append(to: &object, at: SystemClock.now())
    object.endObject()
    return object.bytes
  }

  private static func object(_ members: [(String, [UInt8]?)]) -> [UInt8] {
    let present = members.compactMap { name, value in value.map { Array("\"\(name)\":".utf8) + $0 } }
    return Array("{".utf8) + Array(present.joined(separator: [UInt8(ascii: ",")])) + Array("}\n".utf8)
  }
}

extension NotificationDelivery.Report {
  fileprivate static func done(_ subject: NotificationDelivery.Subject) -> Self {
    Self(outcome: .done, status: NotificationReceiver.acceptedHTTPStatus, subject: subject)
  }

  fileprivate static func repeated(_ subject: NotificationDelivery.Subject) -> Self {
    Self(outcome: .repeated, status: NotificationReceiver.acceptedHTTPStatus, subject: subject)
  }

  /// One JSON object.
  ///
  /// Absent members are left out.
  func json(at instant: Timestamp) -> JSONWriter {
    var object = JSONWriter(.notificationDelivery)
    object.member("time", instant)
    object.member("result", outcome.rawValue)
    object.member("status", Int64(status))
    switch subject {
    case .appStore(let notification): Self.write(notification, to: &object)
    case .googlePlay(let message, let purchase): Self.write(message, purchase, at: instant, to: &object)
    case nil: break
    }
    object.member("message", message)
    return object
  }

  private static func write(_ notification: AppStoreNotification, to object: inout JSONWriter) {
    object.member("notificationUUID", notification.uuid?.rawValue)
    object.member("notificationType", notification.type?.rawValue)
    object.member("subtype", notification.subtype?.rawValue)
    object.member("environment", notification.environment)
    object.member("bundleId", notification.bundleId)
    object.member("signedDate", notification.signedDate)
    object.member(
      "originalTransactionId",
      notification.transaction?.originalTransactionId ?? notification.renewalInfo?.originalTransactionId)
    object.member("transactionId", notification.transaction?.transactionId)
  }

  private static func write(
    _ message: DeveloperMessage, _ purchase: PlayEntitlement?, at instant: Timestamp,
    to object: inout JSONWriter
  ) {
    object.member("messageId", message.messageId)
    object.member("event", message.event)
    if let type = message.eventType { object.member("notificationType", type) }
    object.member("packageName", message.packageName)
    object.member("eventTime", message.eventTime)
    object.member("purchaseToken", message.purchase?.purchaseToken)
    object.member("state", purchase?.state(at: instant).rawValue)
  }
}
