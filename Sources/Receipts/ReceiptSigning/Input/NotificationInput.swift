// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A part of a notification that is signed before the notification.
struct NotificationPart: Sendable {
  enum Place: Sendable {
    case transactionInfo, renewalInfo, appTransactionInfo
  }

  let place: Place
  let payload: JWSPayload
}

/// Authoring JSON of a notification: the payload, with objects in place of the parts that are to be signed.
enum NotificationInput {
  private static let parts:
    [(holder: String, name: String, kind: ReceiptKind, place: NotificationPart.Place)] = [
      ("data", "signedTransactionInfo", .signedTransaction, .transactionInfo),
      ("data", "signedRenewalInfo", .signedRenewalInfo, .renewalInfo),
      ("appData", "signedAppTransactionInfo", .signedAppTransaction, .appTransactionInfo),
    ]

  static func content(
    _ members: [JSONMember], signedAt now: Timestamp, limits: ReceiptLimits
  ) throws(SigningError) -> ReceiptInput.Content {
    var members = members
    let subjects = ["data", "summary", "externalPurchaseToken", "appData"]
    guard members.contains(where: { subjects.contains($0.name) }) else {
      throw JSONPath().missing(
        "data", "A notification is about one of data, summary, externalPurchaseToken and appData: add it.")
    }
    var objects: [(place: JSONPath, members: [JSONMember], kind: ReceiptKind, part: NotificationPart.Place)] =
      []
    for part in parts {
      guard let holder = members.firstIndex(where: { $0.name == part.holder }),
        case .object(var inner) = members[holder].value,
        let index = inner.firstIndex(where: { $0.name == part.name }),
        case .object(let object) = inner[index].value
      else { continue }
      inner.remove(at: index)
      members[holder].value = .object(inner)
      objects.append((JSONPath().member(part.holder).member(part.name), object, part.kind, part.place))
    }
    let payload = try JWSInput.payload(
      members, as: .signedNotification, at: JSONPath(), signedAt: now, limits: limits)
    guard case .notification(let notification) = payload else { return .jws(payload) }
    var signed: [NotificationPart] = []
    for object in objects {
      let part = try JWSInput.payload(
        object.members, as: object.kind, at: object.place, signedAt: notification.signedDate ?? now,
        limits: limits)
      signed.append(NotificationPart(place: object.part, payload: part))
    }
    return .notification(notification, parts: signed)
  }
}
