// SPDX-License-Identifier: Apache-2.0

/// A transaction as the App Store signs it (Apple's JWSTransactionDecodedPayload; in Xcode's signed data,
/// with a device verification).
public struct JWSTransaction: Sendable, Hashable {
  /// The first transaction of the line of renewals or restores.
  public var originalTransactionId: String?
  /// Unique identifier of this purchase event.
  public var transactionId: String?
  /// The original transaction that this line replaced.
  public var previousOriginalTransactionId: String?
  /// Identifier of a subscription purchase across devices, renewals included.
  public var webOrderLineItemId: String?
  /// The app, by its bundle identifier.
  public var bundleId: String?
  /// The product, as named in App Store Connect.
  public var productId: String?
  /// The subscription group.
  public var subscriptionGroupIdentifier: String?
  /// When the store charged for this event.
  public var purchaseDate: Timestamp?
  /// When the original transaction was made.
  public var originalPurchaseDate: Timestamp?
  /// When the subscription expires or renews.
  public var expiresDate: Timestamp?
  /// How many consumables were bought.
  public var quantity: Int64?
  /// The type of the product.
  public var type: ProductType?
  /// The app's own identifier of the customer's account.
  public var appAccountToken: UUIDString?
  /// Bought by this customer, or shared with them.
  public var inAppOwnershipType: InAppOwnershipType?
  /// When the App Store signed this.
  public var signedDate: Timestamp?
  /// Why it was refunded.
  public var revocationReason: RevocationReason?
  /// When it was refunded or revoked from family sharing.
  public var revocationDate: Timestamp?
  /// Whether the customer upgraded to another subscription.
  public var isUpgraded: Bool?
  /// The kind of offer that applied.
  public var offerType: OfferType?
  /// The promotional offer or offer code.
  public var offerIdentifier: String?
  /// The store environment.
  public var environment: ReceiptEnvironment?
  /// Country or region of the storefront, three letters of ISO 3166-1.
  public var storefront: String?
  /// Apple's identifier of the storefront.
  public var storefrontId: String?
  /// Bought by the customer, or renewed.
  public var transactionReason: TransactionReason?
  /// Currency of `price`, ISO 4217.
  public var currency: String?
  /// Price times 1000, in `currency`: 1990 for 1.99.
  public var price: Int64?
  /// How the offer is paid.
  public var offerDiscountType: OfferDiscountType?
  /// Identifier of the app download of this customer.
  public var appTransactionId: String?
  /// Duration of the offer, ISO 8601.
  public var offerPeriod: String?
  /// What was revoked.
  public var revocationType: RevocationType?
  /// How much was refunded, in thousandths of a per cent: 100000 for all.
  public var revocationPercentage: Int64?
  /// Present for purchases through the Advanced Commerce API.
  public var advancedCommerceInfo: AdvancedCommerceTransactionInfo?
  /// How the subscription is billed.
  public var billingPlanType: BillingPlanType?
  /// Present for subscriptions with a commitment.
  public var commitmentInfo: TransactionCommitmentInfo?
  /// Base64; only Xcode writes it into transactions.
  public var deviceVerification: String?
  /// Only Xcode writes it into transactions.
  public var deviceVerificationNonce: UUIDString?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    originalTransactionId: String? = nil, transactionId: String? = nil,
    previousOriginalTransactionId: String? = nil, webOrderLineItemId: String? = nil,
    bundleId: String? = nil, productId: String? = nil, subscriptionGroupIdentifier: String? = nil,
    purchaseDate: Timestamp? = nil, originalPurchaseDate: Timestamp? = nil, expiresDate: Timestamp? = nil,
    quantity: Int64? = nil, type: ProductType? = nil, appAccountToken: UUIDString? = nil,
    inAppOwnershipType: InAppOwnershipType? = nil, signedDate: Timestamp? = nil,
    revocationReason: RevocationReason? = nil, revocationDate: Timestamp? = nil, isUpgraded: Bool? = nil,
    offerType: OfferType? = nil, offerIdentifier: String? = nil, environment: ReceiptEnvironment? = nil,
    storefront: String? = nil, storefrontId: String? = nil, transactionReason: TransactionReason? = nil,
    currency: String? = nil, price: Int64? = nil, offerDiscountType: OfferDiscountType? = nil,
    appTransactionId: String? = nil, offerPeriod: String? = nil, revocationType: RevocationType? = nil,
    revocationPercentage: Int64? = nil, advancedCommerceInfo: AdvancedCommerceTransactionInfo? = nil,
    billingPlanType: BillingPlanType? = nil, commitmentInfo: TransactionCommitmentInfo? = nil,
    deviceVerification: String? = nil, deviceVerificationNonce: UUIDString? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.originalTransactionId = originalTransactionId
    self.transactionId = transactionId
    self.previousOriginalTransactionId = previousOriginalTransactionId
    self.webOrderLineItemId = webOrderLineItemId
    self.bundleId = bundleId
    self.productId = productId
    self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    self.purchaseDate = purchaseDate
    self.originalPurchaseDate = originalPurchaseDate
    self.expiresDate = expiresDate
    self.quantity = quantity
    self.type = type
    self.appAccountToken = appAccountToken
    self.inAppOwnershipType = inAppOwnershipType
    self.signedDate = signedDate
    self.revocationReason = revocationReason
    self.revocationDate = revocationDate
    self.isUpgraded = isUpgraded
    self.offerType = offerType
    self.offerIdentifier = offerIdentifier
    self.environment = environment
    self.storefront = storefront
    self.storefrontId = storefrontId
    self.transactionReason = transactionReason
    self.currency = currency
    self.price = price
    self.offerDiscountType = offerDiscountType
    self.appTransactionId = appTransactionId
    self.offerPeriod = offerPeriod
    self.revocationType = revocationType
    self.revocationPercentage = revocationPercentage
    self.advancedCommerceInfo = advancedCommerceInfo
    self.billingPlanType = billingPlanType
    self.commitmentInfo = commitmentInfo
    self.deviceVerification = deviceVerification
    self.deviceVerificationNonce = deviceVerificationNonce
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

extension JWSTransaction: JSONObject {
  package enum Field: String, CaseIterable {
    case originalTransactionId, transactionId, previousOriginalTransactionId, webOrderLineItemId, bundleId,
      productId, subscriptionGroupIdentifier, purchaseDate, originalPurchaseDate, expiresDate, quantity,
      type, appAccountToken, inAppOwnershipType, signedDate, revocationReason, revocationDate, isUpgraded,
      offerType, offerIdentifier, environment, storefront, storefrontId, transactionReason, currency, price,
      offerDiscountType, appTransactionId, offerPeriod, revocationType, revocationPercentage,
      advancedCommerceInfo, billingPlanType, commitmentInfo, deviceVerification, deviceVerificationNonce
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .originalTransactionId: try coder.code(&originalTransactionId)
    case .transactionId: try coder.code(&transactionId)
    case .previousOriginalTransactionId: try coder.code(&previousOriginalTransactionId)
    case .webOrderLineItemId: try coder.code(&webOrderLineItemId)
    case .bundleId: try coder.code(&bundleId)
    case .productId: try coder.code(&productId)
    case .subscriptionGroupIdentifier: try coder.code(&subscriptionGroupIdentifier)
    case .purchaseDate: try coder.code(&purchaseDate)
    case .originalPurchaseDate: try coder.code(&originalPurchaseDate)
    case .expiresDate: try coder.code(&expiresDate)
    case .quantity: try coder.code(&quantity)
    case .type: try coder.code(&type)
    case .appAccountToken: try coder.code(&appAccountToken)
    case .inAppOwnershipType: try coder.code(&inAppOwnershipType)
    case .signedDate: try coder.code(&signedDate)
    case .revocationReason: try coder.code(&revocationReason)
    case .revocationDate: try coder.code(&revocationDate)
    case .isUpgraded: try coder.code(&isUpgraded)
    case .offerType: try coder.code(&offerType)
    case .offerIdentifier: try coder.code(&offerIdentifier)
    case .environment: try coder.code(&environment)
    case .storefront: try coder.code(&storefront)
    case .storefrontId: try coder.code(&storefrontId)
    case .transactionReason: try coder.code(&transactionReason)
    case .currency: try coder.code(&currency)
    case .price: try coder.code(&price)
    case .offerDiscountType: try coder.code(&offerDiscountType)
    case .appTransactionId: try coder.code(&appTransactionId)
    case .offerPeriod: try coder.code(&offerPeriod)
    case .revocationType: try coder.code(&revocationType)
    case .revocationPercentage: try coder.code(&revocationPercentage)
    case .advancedCommerceInfo: try coder.code(&advancedCommerceInfo)
    case .billingPlanType: try coder.code(&billingPlanType)
    case .commitmentInfo: try coder.code(&commitmentInfo)
    case .deviceVerification: try coder.code(&deviceVerification)
    case .deviceVerificationNonce: try coder.code(&deviceVerificationNonce)
    }
  }
}
