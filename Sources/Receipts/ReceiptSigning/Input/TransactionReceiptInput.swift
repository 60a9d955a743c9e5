// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Authoring JSON of a transaction receipt: one transaction and the other entries of the property list.
struct TransactionReceiptInput: Sendable {
  let purchaseInfo: TransactionReceiptPurchaseInfo
  let version: TransactionReceiptSigner.SignatureVersion
  /// The environment, which the signature does not cover.
  let environment: ReceiptEnvironment

  init(_ members: [JSONMember], limits: ReceiptLimits) throws(SigningError) {
    var object = AuthoringObject(members, at: JSONPath())
    let versionNumber = try object.integer("version") ?? 4
    guard let rawValue = UInt8(exactly: versionNumber),
      let version = TransactionReceiptSigner.SignatureVersion(rawValue: rawValue)
    else {
      throw object.place.member("version").failure(
        .malformedInput, "The signature version is 3 (SHA-1) or 4 (SHA-256), not \(versionNumber).")
    }
    let applicationVersion = try object.string("applicationVersion")
    let bvrs = try object.string("bvrs")
    if applicationVersion != nil, bvrs != nil {
      throw object.place.member("bvrs").failure(
        .malformedInput, "Give applicationVersion or bvrs, not both: they are the same field.")
    }
    let appItemId = try object.identifier("appAppleId")
    let itemId = try object.identifier("itemId")
    let versionExternalIdentifier = try object.identifier("versionExternalIdentifier")
    let uniqueIdentifier = try object.string("uniqueIdentifier")
    let uniqueVendorIdentifier = try object.string("uniqueVendorIdentifier")
    let isTrialPeriod = try object.flag("isTrialPeriod")
    let isInIntroOfferPeriod = try object.flag("isInIntroOfferPeriod")
    let transaction = try TransactionInput.decode(&object, limits: limits)
    try members.require(TransactionFields.required + [TransactionFields.purchaseDate], at: object.place)
    if transaction.revocationDate != nil {
      throw object.place.member("revocationDate").failure(
        .malformedInput, "A transaction receipt cannot say that the purchase was revoked.")
    }
    var additionalEntries: [PropertyList.Entry] = []
    func add(_ key: String, _ value: String?) {
      if let value { additionalEntries.append(PropertyList.Entry(key: key, value: value)) }
    }
    add("is-trial-period", isTrialPeriod.map { $0 ? "true" : "false" })
    add("is-in-intro-offer-period", isInIntroOfferPeriod.map { $0 ? "true" : "false" })
    add("in-app-ownership-type", transaction.inAppOwnershipType?.rawValue)
    self.version = version
    self.environment = transaction.environment ?? .production
    self.purchaseInfo = TransactionReceiptPurchaseInfo(transaction: transaction.transaction).with {
      $0.bundleId = transaction.bundleId
      $0.applicationVersion = applicationVersion ?? bvrs
      $0.itemId = itemId
      $0.appItemId = appItemId
      $0.versionExternalIdentifier = versionExternalIdentifier
      $0.uniqueIdentifier = uniqueIdentifier
      $0.uniqueVendorIdentifier = uniqueVendorIdentifier
      $0.webOrderLineItemId = transaction.webOrderLineItemId
      $0.additionalEntries = additionalEntries
    }
  }
}
