// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Authoring JSON of an app receipt.
enum AppReceiptInput {
  static func content(
    _ members: [JSONMember], signedAt now: Timestamp, limits: ReceiptLimits
  ) throws(SigningError) -> ReceiptInput.Content {
    var object = AuthoringObject(members, at: JSONPath())
    var payload = AppReceiptPayload()
    try payload.takeFields(from: &object)
    let device = try object.string("deviceId")
    let purchases = try object.array("inApp") ?? []
    try object.finish()
    // App receipts have their own spelling of the sandbox.
    if payload.environment == .sandbox { payload.environment = .productionSandbox }
    payload.receiptCreationDate = payload.receiptCreationDate ?? now

    guard let bundleId = payload.bundleId else {
      throw object.place.missing("bundleId", "Add the app's bundle identifier, such as \"com.example.app\".")
    }
    var deviceIdentifier: [UInt8]?
    if let device {
      guard let bytes = DeviceIdentifier.bytes(device) else {
        throw object.place.member("deviceId").failure(
          .malformedInput, "A device identifier is a UUID, or 6 or 16 bytes in hexadecimal.")
      }
      deviceIdentifier = bytes
    }
    for (name, date) in payload.authoredDates { try requireSpelling(of: date, at: object.place.member(name)) }
    for (index, purchase) in purchases.enumerated() {
      let place = object.place.member("inApp").element(index)
      guard case .object(let members) = purchase else {
        throw place.failure(.malformedInput, "Each element of inApp must be a transaction, a JSON object.")
      }
      payload.inAppPurchases.append(
        try inAppPurchase(members, of: bundleId, at: place, limits: limits))
    }
    return .appReceipt(payload, deviceIdentifier: deviceIdentifier)
  }

  private static func inAppPurchase(
    _ members: [JSONMember], of bundleId: String, at place: JSONPath, limits: ReceiptLimits
  ) throws(SigningError) -> InAppPurchase {
    var object = AuthoringObject(members, at: place)
    var purchase = InAppPurchase()
    try purchase.takeFields(from: &object)
    let transaction = try TransactionInput.decode(&object, limits: limits)
    try members.require(TransactionFields.required.filter { $0.name != "bundleId" }, at: place)
    if let stated = transaction.bundleId, !UTF8Text.isIdentical(stated, bundleId) {
      throw place.member("bundleId").failure(
        .malformedInput, "The purchase is of \"\(stated)\", the receipt of \"\(bundleId)\".")
    }
    let dates: [(name: String, date: Timestamp?)] = [
      ("purchaseDate", transaction.purchaseDate), ("originalPurchaseDate", transaction.originalPurchaseDate),
      ("expiresDate", transaction.expiresDate), ("revocationDate", transaction.revocationDate),
    ]
    for (name, date) in dates + purchase.authoredDates {
      try requireSpelling(of: date, at: place.member(name))
    }
    if let text = transaction.webOrderLineItemId {
      guard let number = Int64(text) else {
        throw place.member("webOrderLineItemId").failure(
          .malformedInput, "An app receipt holds it as a number of 64 bits: write decimal digits.")
      }
      purchase.webOrderLineItemId = number
    }
    purchase.transaction = transaction.transaction
    purchase.productType = transaction.type.flatMap(AppReceiptProductType.init)
    let isOffered = transaction.offerType == .introductory
    let isFree = transaction.offerDiscountType == .freeTrial
    if isOffered {
      purchase.isTrialPeriod = purchase.isTrialPeriod ?? isFree
      purchase.isInIntroOfferPeriod = purchase.isInIntroOfferPeriod ?? !isFree
    }
    if transaction.offerType == .promotional {
      purchase.promotionalOfferId = purchase.promotionalOfferId ?? transaction.offerIdentifier
    }
    return purchase
  }

  /// Requires a date with a year of four digits, because the codec omits any other date from app receipts.
  private static func requireSpelling(of date: Timestamp?, at place: JSONPath) throws(SigningError) {
    guard date?.hasFourDigitYear ?? true else {
      throw place.failure(.malformedInput, "An app receipt can only spell dates of the years 0 to 9999.")
    }
  }
}

/// A transaction with the field names of a JWS payload, in the authoring JSON of another kind.
enum TransactionInput {
  /// Decodes the remaining members of an object; a name that a JWS transaction does not have is an error.
  static func decode(
    _ object: inout AuthoringObject, limits: ReceiptLimits
  ) throws(SigningError) -> JWSTransaction {
    let transaction: JWSTransaction
    do throws(MalformedReceipt) {
      transaction = try JWSTransaction(
        decoding: JSONValue.object(object.takeRest()).encoded(), limits: limits, lenientDates: true)
    } catch {
      throw object.place.failure(error)
    }
    if let unknown = transaction.unknownFields.first {
      throw object.unknown(unknown.name, besides: ", and the fields of a signed transaction")
    }
    return transaction
  }
}

/// Device identifiers in the forms that people write.
package enum DeviceIdentifier {
  /// Reads a UUID (`identifierForVendor`) or the hardware address of a Mac. The text is a UUID with hyphens or plain
  /// hexadecimal digits, two for each byte. A colon or a hyphen may separate two bytes.
  package static func bytes(_ text: String) -> [UInt8]? {
    var digits: [UInt8] = []
    var endsWithSeparator = true
    for character in text.utf8 {
      if let digit = Hexadecimal.value(character) {
        digits.append(digit)
        endsWithSeparator = false
        guard digits.count <= 32 else { return nil }
      } else {
        // Separators are allowed only between whole bytes.
        guard [UInt8(ascii: "-"), UInt8(ascii: ":")].contains(character), !endsWithSeparator,
          digits.count.isMultiple(of: 2)
        else { return nil }
        endsWithSeparator = true
      }
    }
    guard !endsWithSeparator, digits.count == 32 || digits.count == 12 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
