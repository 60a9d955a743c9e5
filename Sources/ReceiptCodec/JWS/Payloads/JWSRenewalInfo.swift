// SPDX-License-Identifier: Apache-2.0

/// What happens at the next renewal of a subscription (Apple's JWSRenewalInfoDecodedPayload). It names no
/// app.
public struct JWSRenewalInfo: Sendable, Hashable {
  /// Why the subscription expired.
  public var expirationIntent: ExpirationIntent?
  /// The subscription, by its first transaction.
  public var originalTransactionId: String?
  /// The product that renews at the end of the period.
  public var autoRenewProductId: String?
  /// The product of the current period.
  public var productId: String?
  /// Whether the subscription renews.
  public var autoRenewStatus: AutoRenewStatus?
  /// Whether the App Store is still trying to charge.
  public var isInBillingRetryPeriod: Bool?
  /// Whether the customer agreed to a higher price.
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// When the billing grace period ends.
  public var gracePeriodExpiresDate: Timestamp?
  /// The kind of offer that applies at renewal.
  public var offerType: OfferType?
  /// The promotional offer or offer code.
  public var offerIdentifier: String?
  /// When the App Store signed this.
  public var signedDate: Timestamp?
  /// The store environment.
  public var environment: ReceiptEnvironment?
  /// When the subscription began, gaps of up to 60 days ignored.
  public var recentSubscriptionStartDate: Timestamp?
  /// When the current period ends.
  public var renewalDate: Timestamp?
  /// Currency of `renewalPrice`, ISO 4217.
  public var currency: String?
  /// Price of the next period times 1000, in `currency`.
  public var renewalPrice: Int64?
  /// How the offer is paid.
  public var offerDiscountType: OfferDiscountType?
  /// Win-back offers open to the customer, best first.
  public var eligibleWinBackOfferIds: [String]?
  /// The app's own identifier of the customer's account.
  public var appAccountToken: UUIDString?
  /// Identifier of the app download of this customer.
  public var appTransactionId: String?
  /// Duration of the offer, ISO 8601.
  public var offerPeriod: String?
  /// Present for subscriptions through the Advanced Commerce API.
  public var advancedCommerceInfo: AdvancedCommerceRenewalInfo?
  /// Present for subscriptions with a commitment.
  public var commitmentInfo: RenewalCommitmentInfo?
  /// How the next period is billed.
  public var renewalBillingPlanType: BillingPlanType?
  /// Base64; only Xcode writes it into renewal information.
  public var deviceVerification: String?
  /// Only Xcode writes it into renewal information.
  public var deviceVerificationNonce: UUIDString?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    expirationIntent: ExpirationIntent? = nil, originalTransactionId: String? = nil,
    autoRenewProductId: String? = nil, productId: String? = nil, autoRenewStatus: AutoRenewStatus? = nil,
    isInBillingRetryPeriod: Bool? = nil, priceIncreaseStatus: PriceIncreaseStatus? = nil,
    gracePeriodExpiresDate: Timestamp? = nil, offerType: OfferType? = nil, offerIdentifier: String? = nil,
    signedDate: Timestamp? = nil, environment: ReceiptEnvironment? = nil,
    recentSubscriptionStartDate: Timestamp? = nil, renewalDate: Timestamp? = nil, currency: String? = nil,
    renewalPrice: Int64? = nil, offerDiscountType: OfferDiscountType? = nil,
    eligibleWinBackOfferIds: [String]? = nil, appAccountToken: UUIDString? = nil,
    appTransactionId: String? = nil, offerPeriod: String? = nil,
    advancedCommerceInfo: AdvancedCommerceRenewalInfo? = nil,
    commitmentInfo: RenewalCommitmentInfo? = nil, renewalBillingPlanType: BillingPlanType? = nil,
    deviceVerification: String? = nil, deviceVerificationNonce: UUIDString? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.expirationIntent = expirationIntent
    self.originalTransactionId = originalTransactionId
    self.autoRenewProductId = autoRenewProductId
    self.productId = productId
    self.autoRenewStatus = autoRenewStatus
    self.isInBillingRetryPeriod = isInBillingRetryPeriod
    self.priceIncreaseStatus = priceIncreaseStatus
    self.gracePeriodExpiresDate = gracePeriodExpiresDate
    self.offerType = offerType
    self.offerIdentifier = offerIdentifier
    self.signedDate = signedDate
    self.environment = environment
    self.recentSubscriptionStartDate = recentSubscriptionStartDate
    self.renewalDate = renewalDate
    self.currency = currency
    self.renewalPrice = renewalPrice
    self.offerDiscountType = offerDiscountType
    self.eligibleWinBackOfferIds = eligibleWinBackOfferIds
    self.appAccountToken = appAccountToken
    self.appTransactionId = appTransactionId
    self.offerPeriod = offerPeriod
    self.advancedCommerceInfo = advancedCommerceInfo
    self.commitmentInfo = commitmentInfo
    self.renewalBillingPlanType = renewalBillingPlanType
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

extension JWSRenewalInfo: JSONObject {
  package enum Field: String, CaseIterable {
    case expirationIntent, originalTransactionId, autoRenewProductId, productId, autoRenewStatus,
      isInBillingRetryPeriod, priceIncreaseStatus, gracePeriodExpiresDate, offerType, offerIdentifier,
      signedDate, environment, recentSubscriptionStartDate, renewalDate, currency, renewalPrice,
      offerDiscountType, eligibleWinBackOfferIds, appAccountToken, appTransactionId, offerPeriod,
      advancedCommerceInfo, commitmentInfo, renewalBillingPlanType, deviceVerification,
      deviceVerificationNonce
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .expirationIntent: try coder.code(&expirationIntent)
    case .originalTransactionId: try coder.code(&originalTransactionId)
    case .autoRenewProductId: try coder.code(&autoRenewProductId)
    case .productId: try coder.code(&productId)
    case .autoRenewStatus: try coder.code(&autoRenewStatus)
    case .isInBillingRetryPeriod: try coder.code(&isInBillingRetryPeriod)
    case .priceIncreaseStatus: try coder.code(&priceIncreaseStatus)
    case .gracePeriodExpiresDate: try coder.code(&gracePeriodExpiresDate)
    case .offerType: try coder.code(&offerType)
    case .offerIdentifier: try coder.code(&offerIdentifier)
    case .signedDate: try coder.code(&signedDate)
    case .environment: try coder.code(&environment)
    case .recentSubscriptionStartDate: try coder.code(&recentSubscriptionStartDate)
    case .renewalDate: try coder.code(&renewalDate)
    case .currency: try coder.code(&currency)
    case .renewalPrice: try coder.code(&renewalPrice)
    case .offerDiscountType: try coder.code(&offerDiscountType)
    case .eligibleWinBackOfferIds: try coder.code(&eligibleWinBackOfferIds)
    case .appAccountToken: try coder.code(&appAccountToken)
    case .appTransactionId: try coder.code(&appTransactionId)
    case .offerPeriod: try coder.code(&offerPeriod)
    case .advancedCommerceInfo: try coder.code(&advancedCommerceInfo)
    case .commitmentInfo: try coder.code(&commitmentInfo)
    case .renewalBillingPlanType: try coder.code(&renewalBillingPlanType)
    case .deviceVerification: try coder.code(&deviceVerification)
    case .deviceVerificationNonce: try coder.code(&deviceVerificationNonce)
    }
  }
}
