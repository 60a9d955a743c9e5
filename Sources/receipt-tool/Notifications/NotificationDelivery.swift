// SPDX-License-Identifier: Apache-2.0

import Entitlements
import EntitlementsSQLite
import ReceiptCodec
import ReceiptVerification
import SQLite
import Synchronization

/// What is done with each request: verified, forwarded, recorded. The order makes it safe: the work is done before it is
/// recorded, and it is recorded before the sender is told.
final class NotificationDelivery: Sendable {
  /// The outcome of a delivery.
  enum Outcome: String {
    /// Its work is done, now, and recorded.
    case done
    /// It was recorded before; nothing was done.
    case `repeated`
    /// It is not accepted, and will not be.
    case refused
    /// It could not be checked; to be delivered again.
    case undetermined
    /// Its work, or recording it, failed; to be delivered again.
    case failed
    /// The same is being dealt with; to be delivered again.
    case busy
  }

  /// A delivery, as it is reported.
  struct Report {
    let outcome: Outcome
    let status: Int
    var notification: AppStoreNotification?
    var message: String?
    /// Whether what is stored is not known; then the process ends.
    var isFatal = false
  }

  private let receiver: NotificationReceiver
  private let store: EntitlementStore
  private let forward: NotificationForward?
  /// The notifications that are being dealt with.
  private let current = Mutex<Set<[UInt8]>>([])

  init(verifier: ReceiptVerifier, store: EntitlementStore, forward: NotificationForward?) {
    receiver = NotificationReceiver(verifier: verifier)
    self.store = store
    self.forward = forward
  }

  func deliver(_ body: [UInt8]) async -> Report {
    let notification: AppStoreNotification
    do throws(NotificationRejection) {
      notification = try receiver.receive(body)
    } catch {
      let isOpen = if case .undetermined = error { true } else { false }
      return Report(
        outcome: isOpen ? .undetermined : .refused, status: error.httpStatus, message: error.description)
    }
    let key = EntitlementStore.key(notification)
    guard current.withLock({ $0.insert(key).inserted }) else {
      return Report(outcome: .busy, status: 503, notification: notification)
    }
    defer { current.withLock { _ = $0.remove(key) } }
    do {
      if try store.isRecorded(notification) { return repeated(notification) }
      try await forward?.send(Self.document(notification), uuid: notification.uuid?.rawValue ?? "")
      guard try store.record(notification) else { return repeated(notification) }
      return Report(
        outcome: .done, status: NotificationReceiver.acceptedHTTPStatus, notification: notification)
    } catch {
      let message = (error as? NotificationForward.Failure)?.message ?? (error as? SQLiteError)?.message
      let code = (error as? SQLiteError)?.code
      return Report(
        outcome: .failed, status: 503, notification: notification, message: message ?? "\(error)",
        isFatal: code != nil && code != .full && code != .busy)
    }
  }

  private func repeated(_ notification: AppStoreNotification) -> Report {
    Report(outcome: .repeated, status: NotificationReceiver.acceptedHTTPStatus, notification: notification)
  }

  /// What is handed over: the notification and its signed parts, decoded, and the whole as it was signed.
  private static func document(_ notification: AppStoreNotification) -> [UInt8] {
    let signed = String(decoding: notification.receipt.encoded, as: UTF8.self)
    let members: [(String, [UInt8]?)] = [
      ("notification", notification.notification.encodedJSON()),
      ("transaction", notification.transaction?.encodedJSON()),
      ("renewalInfo", notification.renewalInfo?.encodedJSON()),
      ("appTransaction", notification.appTransaction?.encodedJSON()),
      ("signedPayload", Array("\"\(signed)\"".utf8)),
    ]
    let present = members.compactMap { name, value in value.map { Array("\"\(name)\":".utf8) + $0 } }
    return Array("{".utf8) + Array(present.joined(separator: [UInt8(ascii: ",")])) + Array("}\n".utf8)
  }
}

extension NotificationDelivery.Report {
  /// One JSON object. Absent members are left out.
  func json(at instant: Timestamp) -> JSONWriter {
    var object = JSONWriter()
    object.beginObject()
    object.member("time", instant.iso8601)
    object.member("result", outcome.rawValue)
    object.member("status", Int64(status))
    if let notification {
      object.member("notificationUUID", notification.uuid?.rawValue)
      object.member("notificationType", notification.type?.rawValue)
      object.member("subtype", notification.subtype?.rawValue)
      object.member("environment", notification.environment?.rawValue)
      object.member("bundleId", notification.bundleId)
      object.member("signed", notification.signedDate?.iso8601)
      object.member(
        "originalTransactionId",
        notification.transaction?.originalTransactionId ?? notification.renewalInfo?.originalTransactionId)
      object.member("transactionId", notification.transaction?.transactionId)
    }
    object.member("message", message)
    object.endObject()
    return object
  }
}
