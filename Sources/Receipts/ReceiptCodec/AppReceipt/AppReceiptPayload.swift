// SPDX-License-Identifier: Apache-2.0

/// The typed attributes of an app receipt.
///
/// A field is `nil` if the receipt has no such attribute. Apple does not document the types marked †. Two payloads are
/// equal if they encode to the same bytes.
public struct AppReceiptPayload: Sendable, FieldwiseBuildable {
  /// The environment, type 0 †, such as `Production` or `ProductionSandbox`.
  public var environment: ReceiptEnvironment? { didSet { isChanged = true } }
  /// The app's identifier in the App Store, type 1 †; 0 in the sandbox.
  public var appAppleId: Int64? { didSet { isChanged = true } }
  /// The bundle identifier, type 2.
  public var bundleId: String? { didSet { didSetBundleId() } }
  /// The octets of the value of type 2, with their DER tag and length, which the device hash covers.
  ///
  /// Empty if there is no bundle identifier.
  package internal(set) var bundleIdValue: [UInt8] = []
  /// The version of the app (`CFBundleVersion` on iOS), type 3.
  public var applicationVersion: String? { didSet { isChanged = true } }
  /// The opaque octets that the device hash covers, type 4.
  package var opaqueValue: [UInt8]? { didSet { isChanged = true } }
  /// The device hash, type 5: SHA-1 over the device identifier, ``opaqueValue`` and the octets of type 2.
  package var sha1Hash: [UInt8]? { didSet { isChanged = true } }
  /// The date of the last transaction, type 8 †.
  package var transactionDate: Timestamp? { didSet { isChanged = true } }
  /// A version of the App Store's tool that made the receipt, type 9 †.
  package var fulfillmentToolVersion: Int64? { didSet { isChanged = true } }
  /// The age rating, such as `4+`, type 10 †.
  package var ageRating: String? { didSet { isChanged = true } }
  /// The developer's identifier, type 11 †.
  package var developerId: Int64? { didSet { isChanged = true } }
  /// The date on which the receipt was created and signed, type 12.
  public var receiptCreationDate: Timestamp? { didSet { isChanged = true } }
  /// The identifier of the download, type 15 †.
  package var downloadId: Int64? { didSet { isChanged = true } }
  /// The version of the installer, type 16 †.
  package var installerVersion: Int64? { didSet { isChanged = true } }
  /// The in-app purchases, type 17, in order.
  public var inAppPurchases: [InAppPurchase] = [] { didSet { isChanged = true } }
  /// The date of the first purchase of the app, type 18 †.
  public var originalPurchaseDate: Timestamp? { didSet { isChanged = true } }
  /// The version of the app that was first purchased, type 19.
  public var originalApplicationVersion: String? { didSet { isChanged = true } }
  /// The expiration date of a receipt of the volume purchase programme, type 21.
  public var expirationDate: Timestamp? { didSet { isChanged = true } }
  /// Further attributes to write, besides those that have a field.
  ///
  /// The attributes of a decoded payload are in ``attributes``, and they stay if a field is changed.
  package var additionalAttributes: [AppReceiptAttribute] = [] { didSet { isChanged = true } }

  /// The decoded set, exactly as signed.
  let source: ArraySlice<UInt8>?
  /// Indicates whether a field was set after decoding, so that ``source`` is out of date.
  private(set) var isChanged = false

  /// Creates a payload without attributes, to be signed.
  ///
  /// A receipt cannot encode a date outside the years 0 to 9999, so such a date is omitted.
  public init() { source = nil }

  /// The in-app purchases as transactions, the model that all receipt formats share.
  package var transactions: [Transaction] { inAppPurchases.map(\.transaction) }

  private mutating func didSetBundleId() {
    isChanged = true
    bundleIdValue = Self.value(ofBundleId: bundleId)
  }

  private static func value(ofBundleId bundleId: String?) -> [UInt8] {
    bundleId.map { AttributeListWriter.value(text: $0) } ?? []
  }
}
