// SPDX-License-Identifier: Apache-2.0

/// What the App Store sends to ask for a retention message (Apple's DecodedRealtimeRequestBody). It names
/// no bundle.
public struct RealtimeRequest: Sendable, Hashable {
  /// The subscription, by its first transaction.
  public var originalTransactionId: String
  /// The app's identifier in the App Store.
  public var appAppleId: Int64
  /// The product of the subscription.
  public var productId: String
  /// The customer's locale, such as `en-US`.
  public var userLocale: String
  /// Identifies this request.
  public var requestIdentifier: UUIDString
  /// The store environment.
  public var environment: ReceiptEnvironment
  /// When the App Store signed this.
  public var signedDate: Timestamp
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one; all fields are required.
  public init(
    originalTransactionId: String, appAppleId: Int64, productId: String, userLocale: String,
    requestIdentifier: UUIDString, environment: ReceiptEnvironment, signedDate: Timestamp,
    unknownFields: [JSONMember] = []
  ) {
    self.originalTransactionId = originalTransactionId
    self.appAppleId = appAppleId
    self.productId = productId
    self.userLocale = userLocale
    self.requestIdentifier = requestIdentifier
    self.environment = environment
    self.signedDate = signedDate
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

extension RealtimeRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case originalTransactionId, appAppleId, productId, userLocale, requestIdentifier, environment,
      signedDate
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it: every field is required.
  package init() {
    self.init(
      originalTransactionId: "", appAppleId: 0, productId: "", userLocale: "",
      requestIdentifier: UUIDString(rawValue: ""), environment: .production,
      signedDate: Timestamp(millisecondsSince1970: 0))
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .originalTransactionId: try coder.code(&originalTransactionId)
    case .appAppleId: try coder.code(&appAppleId)
    case .productId: try coder.code(&productId)
    case .userLocale: try coder.code(&userLocale)
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .environment: try coder.code(&environment)
    case .signedDate: try coder.code(&signedDate)
    }
  }
}
