// SPDX-License-Identifier: Apache-2.0

/// An App Store Server Notification, version 2 (Apple's ResponseBodyV2DecodedPayload). It has at most one
/// of `data`, `summary`, `externalPurchaseToken` and `appData`.
public struct Notification: Sendable, Hashable {
  /// The event.
  public var notificationType: NotificationType?
  /// More about the event.
  public var subtype: NotificationSubtype?
  /// Identifies the notification; the same for each attempt to deliver it.
  public var notificationUUID: UUIDString?
  /// `2.0`.
  public var version: String?
  /// When the App Store signed this; absent in early 2022.
  public var signedDate: Timestamp?
  /// The transaction concerned.
  public var data: NotificationData?
  /// The outcome of a mass extension of renewal dates.
  public var summary: NotificationSummary?
  /// A token of an external purchase.
  public var externalPurchaseToken: ExternalPurchaseToken?
  /// The app transaction concerned.
  public var appData: NotificationAppData?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    notificationType: NotificationType? = nil, subtype: NotificationSubtype? = nil,
    notificationUUID: UUIDString? = nil, version: String? = nil, signedDate: Timestamp? = nil,
    data: NotificationData? = nil, summary: NotificationSummary? = nil,
    externalPurchaseToken: ExternalPurchaseToken? = nil, appData: NotificationAppData? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.notificationType = notificationType
    self.subtype = subtype
    self.notificationUUID = notificationUUID
    self.version = version
    self.signedDate = signedDate
    self.data = data
    self.summary = summary
    self.externalPurchaseToken = externalPurchaseToken
    self.appData = appData
    self.unknownFields = unknownFields
  }

  /// Reads the JSON of a payload. `lenientDates` also takes dates as ISO 8601 strings, which people write
  /// and Apple does not.
  ///
  /// - Throws: ``MalformedReceipt`` with the JSON path of a field of the wrong type, out of range or
  /// repeated, else with the byte offset.
  public init(
    decoding json: [UInt8], limits: ReceiptLimits = .standard, lenientDates: Bool = false
  ) throws(MalformedReceipt) {
    try self.init(json: json, part: "JWS payload", limits: limits, acceptsDateStrings: lenientDates)
  }

  /// The payload as compact JSON: fields in the order of Apple's documentation, unknown ones last.
  public func encoded() -> [UInt8] { encodedJSON() }
}

extension Notification: JSONObject {
  package enum Field: String, CaseIterable {
    case notificationType, subtype, notificationUUID, version, signedDate, data, summary,
      externalPurchaseToken, appData
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .notificationType: try coder.code(&notificationType)
    case .subtype: try coder.code(&subtype)
    case .notificationUUID: try coder.code(&notificationUUID)
    case .version: try coder.code(&version)
    case .signedDate: try coder.code(&signedDate)
    case .data: try coder.code(&data)
    case .summary: try coder.code(&summary)
    case .externalPurchaseToken: try coder.code(&externalPurchaseToken)
    case .appData: try coder.code(&appData)
    }
  }
}
