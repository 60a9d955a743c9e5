// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A notification in a store's outbox.
public struct SignedNotification: Sendable, Hashable, Identifiable {
  /// 1, 2, 3 and so on, without gaps, in the order of the events.
  public internal(set) var number: Int64 = 0
  /// The account of the purchase.
  public internal(set) var account = ""
  /// The event.
  public internal(set) var type = NotificationType(rawValue: "")
  /// More about the event.
  public internal(set) var subtype: NotificationSubtype?
  /// The same for every attempt to deliver the notification.
  public internal(set) var uuid = UUIDString(rawValue: "")
  /// When it was signed.
  public internal(set) var signedDate = Timestamp(millisecondsSince1970: 0)
  /// The transaction that it is about.
  public internal(set) var transactionIdentifier = ""
  /// The original transaction of that one.
  public internal(set) var originalTransactionIdentifier = ""
  /// The notification as sent to a server: a JWS.
  public internal(set) var signedPayload = ""
  package var unknownFields: [JSONMember] = []

  package init() {}

  /// ``number``.
  public var id: Int64 { number }
}

extension SignedNotification: JSONObject {
  package enum Field: String, CaseIterable, Sendable {
    case number, account, type, subtype, uuid, signedDate, transactionIdentifier,
      originalTransactionIdentifier,
      signedPayload
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.number, .signedPayload])

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .number: try coder.code(&number)
    case .account: try coder.code(&account)
    case .type: try coder.code(&type)
    case .subtype: try coder.code(&subtype)
    case .uuid: try coder.code(&uuid)
    case .signedDate: try coder.code(&signedDate)
    case .transactionIdentifier: try coder.code(&transactionIdentifier)
    case .originalTransactionIdentifier: try coder.code(&originalTransactionIdentifier)
    case .signedPayload: try coder.code(&signedPayload)
    }
  }
}
