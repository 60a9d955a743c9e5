// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import RemoteChecks

  /// A line of an import: a receipt in any form, or a JSON object.
  ///
  /// ```
  /// eyJhbGciOiJFUzI1NiIs…
  /// {"receipt": "MIIT…", "customer": "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"}
  /// {"purchaseToken": "abc…", "productId": "coins", "subscription": false, "customer": "alice"}
  /// {"transactionId": "2000000000000001", "customer": "bob"}
  /// {"orderId": "MK5TTTVWJH"}
  /// ```
  struct ImportLine: Sendable {
    enum Content: Sendable {
      case receipt([UInt8])
      case reference(PurchaseReference, isSubscription: Bool)
    }

    let content: Content
    var customer: String?
    /// A member that no object of an import has. The line is then a receipt in JSON, or a mistake.
    var unknownMember: String?

    private static let purchases: Set = ["receipt", "purchaseToken", "transactionId", "orderId"]
    private static let members = purchases.union([
      "customer", "store", "productId", "packageName", "subscription", "subscriptionId",
    ])
    private static let maximumCustomerByteCount = 512

    init(_ line: [UInt8]) throws(ImportFailure) {
      let text = ReceiptText.trimming(ByteOrderMark.dropped(from: line))
      guard text.first == UInt8(ascii: "{"), let object = try? JSONValue(parsing: text),
        let members = object.object, members.contains(where: { Self.purchases.contains($0.name) })
      else {
        content = .receipt(line)
        return
      }
      if let unknown = members.first(where: { !Self.members.contains($0.name) }) {
        content = .receipt(line)
        unknownMember = unknown.name
        return
      }
      customer = try Self.text("customer", in: object)
      if let customer, !(1...Self.maximumCustomerByteCount ~= customer.utf8.count) {
        throw ImportFailure(
          "invalid-line", "$.customer: It takes 1 to \(Self.maximumCustomerByteCount) bytes.")
      }
      guard let receipt = object["receipt"] else {
        content = try Self.reference(in: object)
        return
      }
      guard members.allSatisfy({ ["receipt", "customer"].contains($0.name) }) else {
        throw ImportFailure(
          "invalid-line", "$: Name the purchase by the receipt or by a reference, not by both.")
      }
      if let text = receipt.string {
        content = .receipt(Array(text.utf8))
      } else {
        var writer = JSONWriter()
        writer.value(receipt)
        content = .receipt(writer.bytes)
      }
    }

    private static func reference(in object: JSONValue) throws(ImportFailure) -> Content {
      var isSubscription = false
      switch object["subscription"] {
      case nil, .null: break
      case .bool(let value): isSubscription = value
      default: throw ImportFailure("invalid-line", "$.subscription: It takes true or false.")
      }
      let texts = try [
        "store", "transactionId", "orderId", "purchaseToken", "productId", "subscriptionId", "packageName",
      ].map { name throws(ImportFailure) in try text(name, in: object) }
      do throws(PurchaseReference.Mistake) {
        let reference = try PurchaseReference(
          store: texts[0] ?? (texts[3] == nil ? nil : "google-play"), transactionId: texts[1],
          orderId: texts[2], purchaseToken: texts[3],
          productId: texts[4], subscriptionId: texts[5], packageName: texts[6])
        return .reference(reference, isSubscription: isSubscription)
      } catch {
        throw ImportFailure("invalid-line", "$.\(error.member): \(error.message)")
      }
    }

    private static func text(_ name: String, in object: JSONValue) throws(ImportFailure) -> String? {
      switch object[name] {
      case nil, .null: return nil
      // Identifiers are often exported as numbers.
      case .number(let number) where name.hasSuffix("Id") || name == "customer": return number.text
      case .string(let text): return text
      default: throw ImportFailure("invalid-line", "$.\(name): It takes a text.")
      }
    }
  }
#endif
