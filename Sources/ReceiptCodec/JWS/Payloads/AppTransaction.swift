// SPDX-License-Identifier: Apache-2.0

/// The purchase or download of the app itself, for one device. Its signing date is `receiptCreationDate`.
public struct AppTransaction: Sendable, Hashable {
  /// The store environment.
  public var receiptType: ReceiptEnvironment?
  /// The app's identifier in the App Store; absent from Xcode's.
  public var appAppleId: Int64?
  /// The app, by its bundle identifier.
  public var bundleId: String?
  /// Version of the app that this speaks about.
  public var applicationVersion: String?
  /// Apple's identifier of that version.
  public var versionExternalIdentifier: Int64?
  /// When the App Store signed this.
  public var receiptCreationDate: Timestamp?
  /// When the customer first got the app; -62135769600000 where Xcode has none.
  public var originalPurchaseDate: Timestamp?
  /// Version that the customer first got.
  public var originalApplicationVersion: String?
  /// Base64 of a SHA-384 digest over the nonce and the device identifier.
  public var deviceVerification: String?
  /// What `deviceVerification` is computed over, beside the device identifier.
  public var deviceVerificationNonce: UUIDString?
  /// When the customer ordered the app ahead of its release.
  public var preorderDate: Timestamp?
  /// Identifier of the app download of this customer.
  public var appTransactionId: String?
  /// Platform on which the customer first got the app.
  public var originalPlatform: PurchasePlatform?
  /// The store that the app came from.
  public var storeType: String?
  /// When the data was asked for; only Xcode writes it.
  public var requestDate: Timestamp?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    receiptType: ReceiptEnvironment? = nil, appAppleId: Int64? = nil, bundleId: String? = nil,
    applicationVersion: String? = nil, versionExternalIdentifier: Int64? = nil,
    receiptCreationDate: Timestamp? = nil, originalPurchaseDate: Timestamp? = nil,
    originalApplicationVersion: String? = nil, deviceVerification: String? = nil,
    deviceVerificationNonce: UUIDString? = nil, preorderDate: Timestamp? = nil,
    appTransactionId: String? = nil, originalPlatform: PurchasePlatform? = nil, storeType: String? = nil,
    requestDate: Timestamp? = nil, unknownFields: [JSONMember] = []
  ) {
    self.receiptType = receiptType
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.applicationVersion = applicationVersion
    self.versionExternalIdentifier = versionExternalIdentifier
    self.receiptCreationDate = receiptCreationDate
    self.originalPurchaseDate = originalPurchaseDate
    self.originalApplicationVersion = originalApplicationVersion
    self.deviceVerification = deviceVerification
    self.deviceVerificationNonce = deviceVerificationNonce
    self.preorderDate = preorderDate
    self.appTransactionId = appTransactionId
    self.originalPlatform = originalPlatform
    self.storeType = storeType
    self.requestDate = requestDate
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

extension AppTransaction: JSONObject {
  package enum Field: String, CaseIterable {
    case receiptType, appAppleId, bundleId, applicationVersion, versionExternalIdentifier,
      receiptCreationDate, originalPurchaseDate, originalApplicationVersion, deviceVerification,
      deviceVerificationNonce, preorderDate, appTransactionId, originalPlatform, storeType, requestDate
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .receiptType: try coder.code(&receiptType)
    case .appAppleId: try coder.code(&appAppleId)
    case .bundleId: try coder.code(&bundleId)
    case .applicationVersion: try coder.code(&applicationVersion)
    case .versionExternalIdentifier: try coder.code(&versionExternalIdentifier)
    case .receiptCreationDate: try coder.code(&receiptCreationDate)
    case .originalPurchaseDate: try coder.code(&originalPurchaseDate)
    case .originalApplicationVersion: try coder.code(&originalApplicationVersion)
    case .deviceVerification: try coder.code(&deviceVerification)
    case .deviceVerificationNonce: try coder.code(&deviceVerificationNonce)
    case .preorderDate: try coder.code(&preorderDate)
    case .appTransactionId: try coder.code(&appTransactionId)
    case .originalPlatform: try coder.code(&originalPlatform)
    case .storeType: try coder.code(&storeType)
    case .requestDate: try coder.code(&requestDate)
    }
  }
}
