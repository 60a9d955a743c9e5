// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// How StoreKit testing behaves (`settings` of an Xcode `.storekit` file). All of them are read; a store decides
/// which ones it applies.
struct StoreKitSettings: JSONObject, Sendable, Hashable {
  /// Whether purchases fail (`_failTransactionsEnabled`).
  var failTransactionsEnabled: Bool?
  /// Whether purchases need approval (`_askToBuyEnabled`).
  var askToBuyEnabled: Bool?
  /// Whether charges fail (`_billingIssuesEnabled`).
  var billingIssuesEnabled: Bool?
  /// Whether service goes on while a charge fails (`_billingGracePeriodEnabled`).
  var billingGracePeriodEnabled: Bool?
  /// Whether charges for renewals fail (`_renewalBillingIssuesEnabled`).
  var renewalBillingIssuesEnabled: Bool?
  /// Whether purchase dialogs are skipped (`_disableDialogs`).
  var disableDialogs: Bool?
  /// The locale that prices are formatted by, such as `en_US` (`_locale`).
  var locale: String?
  /// The country of the store, such as `USA` (`_storefront`).
  var storefront: String?
  /// How fast time passes, by Xcode's numbers (`_timeRate`); 0 is real time.
  var timeRate: Int64?
  /// The same for other versions of Xcode (`_compatibilityTimeRate`), uninterpreted.
  var compatibilityTimeRate: JSONValue?
  /// Which failure old versions of Xcode produce (`_storeKitError`).
  var storeKitError: Int64?
  /// Which failures are produced (`_storeKitErrors`).
  var storeKitErrors: [StoreKitFailure]?
  /// The App Store's identifier of the app, where the file is synchronised (`_applicationInternalID`).
  var applicationInternalID: String?
  /// The team, where the file is synchronised (`_developerTeamID`).
  var developerTeamID: String?
  /// When it was synchronised, in seconds since 2001 (`_lastSynchronizedDate`).
  var lastSynchronizedDate: Double?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case failTransactionsEnabled = "_failTransactionsEnabled"
    case askToBuyEnabled = "_askToBuyEnabled"
    case billingIssuesEnabled = "_billingIssuesEnabled"
    case billingGracePeriodEnabled = "_billingGracePeriodEnabled"
    case renewalBillingIssuesEnabled = "_renewalBillingIssuesEnabled"
    case disableDialogs = "_disableDialogs"
    case locale = "_locale"
    case storefront = "_storefront"
    case timeRate = "_timeRate"
    case compatibilityTimeRate = "_compatibilityTimeRate"
    case storeKitError = "_storeKitError"
    case storeKitErrors = "_storeKitErrors"
    case applicationInternalID = "_applicationInternalID"
    case developerTeamID = "_developerTeamID"
    case lastSynchronizedDate = "_lastSynchronizedDate"
  }

  static let fieldNames = JSONFieldNames<Field>()

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .failTransactionsEnabled: try coder.code(&failTransactionsEnabled)
    case .askToBuyEnabled: try coder.code(&askToBuyEnabled)
    case .billingIssuesEnabled: try coder.code(&billingIssuesEnabled)
    case .billingGracePeriodEnabled: try coder.code(&billingGracePeriodEnabled)
    case .renewalBillingIssuesEnabled: try coder.code(&renewalBillingIssuesEnabled)
    case .disableDialogs: try coder.code(&disableDialogs)
    case .locale: try coder.code(&locale)
    case .storefront: try coder.code(&storefront)
    case .timeRate: try coder.code(&timeRate)
    case .compatibilityTimeRate: try coder.code(&compatibilityTimeRate)
    case .storeKitError: try coder.code(&storeKitError)
    case .storeKitErrors: try coder.code(&storeKitErrors)
    case .applicationInternalID: try coder.code(&applicationInternalID)
    case .developerTeamID: try coder.code(&developerTeamID)
    case .lastSynchronizedDate: try coder.code(&lastSynchronizedDate)
    }
  }
}
