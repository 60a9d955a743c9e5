// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Extracts receipts from JSON, where they have the names that the stores' APIs use.
enum JSONWrapping {
  static let names = [
    "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo", "signedPayload",
    "receipt-data", "latest_receipt",
  ]

  /// The names of members that hold a receipt in what the plugins of apps hand over: OpenIAP's clients, react-native-iap,
  /// and cordova-plugin-purchase, which has its own in a member `transaction`.
  private static let pluginNames = ["jws", "jwsRepresentation", "transactionReceipt", "appStoreReceipt"]

  /// The names of members that hold lists of receipts, in responses of the store.
  private static let listNames = ["signedTransactions", "notificationHistory"]

  /// The receipt in a JSON document.
  enum Unwrapped {
    /// The text of a receipt.
    case text([UInt8])
    /// Data with a detached signature.
    case detached(UnverifiedDetachedReceipt)
  }

  /// Returns the only receipt in a JSON string or object.
  static func unwrap(_ json: [UInt8], limits: ReceiptLimits) throws(MalformedReceipt) -> Unwrapped {
    if let receipt = try DetachedWrapping.plain(json, limits: limits) { return .detached(receipt) }
    switch try JSONValue(parsing: json, limits: limits) {
    case .string(let text): return .text(Array(text.utf8))
    case .object(let members): return try unwrap(members, limits: limits)
    default:
      throw MalformedReceipt(.unrecognized, at: .jsonPath("$"), "The JSON is neither an object nor a string.")
    }
  }

  private static func unwrap(
    _ members: [JSONMember], limits: ReceiptLimits
  ) throws(MalformedReceipt) -> Unwrapped {
    let found = members.filter { member in
      names.contains { UTF8Text.isIdentical($0, member.name) }
    }
    guard let only = found.first else {
      if let receipt = try DetachedWrapping.receipt(in: members, at: "$", limits: limits) {
        return .detached(receipt)
      }
      if let inner = try unwrapFramework(members, limits: limits) { return inner }
      if let list = members.first(where: { member in
        member.value.array != nil && listNames.contains { UTF8Text.isIdentical($0, member.name) }
      }) {
        throw MalformedReceipt(
          .unsupported, at: .jsonPath("$.\(list.name)"),
          "The JSON object is an answer of the store with a list of receipts, \"\(list.name)\". Pass each element by itself, "
            + "for example one a line (receipt-tool: --lines).")
      }
      throw MalformedReceipt(
        .unrecognized, at: .jsonPath("$"),
        "The JSON object has none of the members \(names.joined(separator: ", ")), nor data and signature.")
    }
    guard found.count == 1 else {
      throw MalformedReceipt(
        .unsupported, at: .jsonPath("$"),
        "The JSON object has several receipts: \(found.map(\.name).joined(separator: ", ")). Pass one.")
    }
    guard let text = only.value.string else {
      throw MalformedReceipt(
        .wrongType, at: .jsonPath("$.\(only.name)"), "The receipt in the JSON object is not a string.")
    }
    return .text(Array(text.utf8))
  }

  /// Extracts a receipt from the JSON of a framework; `nil` if there is no receipt. Unity's is `{"Store",
  /// "TransactionID", "Payload"}`; the payload is JSON for Google Play and an app receipt for Apple. Cordova's is
  /// `{"transaction": {"receipt", "signature"}}` or `{"transaction": {"jwsRepresentation"}}`.
  private static func unwrapFramework(
    _ members: [JSONMember], limits: ReceiptLimits
  ) throws(MalformedReceipt) -> Unwrapped? {
    func member(_ name: String) -> JSONValue? {
      members.first { UTF8Text.isIdentical($0.name, name) }?.value
    }
    if member("Store")?.string != nil, let payload = member("Payload")?.string {
      let text = ReceiptText.trimming(Array(payload.utf8))
      guard text.first == UInt8(ascii: "{") else { return .text(text) }
      let inner = try JSONValue(parsing: text, part: "Payload", limits: limits)
      let receipt = try DetachedWrapping.receipt(in: inner.object ?? [], at: "$.Payload", limits: limits)
      return receipt.map { .detached($0) }
    }
    if let transaction = member("transaction")?.object {
      if let receipt = try DetachedWrapping.receipt(in: transaction, at: "$.transaction", limits: limits) {
        return .detached(receipt)
      }
      return try unwrapPlugin(transaction, at: "$.transaction")
    }
    return try unwrapPlugin(members, at: "$")
  }

  /// The text of the only receipt that has a name of the plugins; `nil` if there is none.
  private static func unwrapPlugin(
    _ members: [JSONMember], at place: String
  ) throws(MalformedReceipt) -> Unwrapped? {
    let found = members.filter { member in
      pluginNames.contains { UTF8Text.isIdentical($0, member.name) }
    }
    guard let only = found.first else { return nil }
    guard found.count < 2, let text = only.value.string else {
      throw MalformedReceipt(
        .unsupported, at: .jsonPath("\(place).\(only.name)"),
        "The JSON object has several receipts, or one that is not a string. Pass one.")
    }
    return .text(Array(text.utf8))
  }
}
