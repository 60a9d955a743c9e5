// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import ReceiptBytes
  internal import ReceiptCodec

  /// The body of a request for `POST /v1/purchase/verify` of OpenIAP.
  struct OpenIAPRequest: Sendable, Hashable {
    enum Purchase: Sendable, Hashable {
      /// A compact JWS with a signed transaction.
      case apple(jws: String)
      case google(purchaseToken: String)
      case amazon
      case horizon
    }

    let purchase: Purchase
    let expectedProductId: String?

    /// The name of the store, which the answer repeats.
    var store: String {
      switch purchase {
      case .apple: "apple"
      case .google: "google"
      case .amazon: "amazon"
      case .horizon: "horizon"
      }
    }

    /// Reads a body.
    ///
    /// - Throws: ``OpenIAPFailure`` with an error for each wrong member.
    init(_ body: JSONValue) throws(OpenIAPFailure) {
      var reader = MemberReader(body: body)
      let store = reader.text("store", 1...64, .any)
      expectedProductId = reader.text("expectedProductId", 1...256, .product, isRequired: false)
      reader.flag("includeClientPayload")
      var purchase: Purchase?
      switch store {
      case "apple": purchase = reader.text("jws", 100...16_000, .any).map { .apple(jws: $0) }
      case "google":
        purchase = reader.text("purchaseToken", 20...2_000, .token).map { .google(purchaseToken: $0) }
      case "amazon":
        _ = reader.text("userId", 3...512, .amazonUser)
        _ = reader.text("receiptId", 10...4_096, .amazonReceipt)
        reader.flag("sandbox")
        purchase = .amazon
      case "horizon":
        _ = reader.text("userId", 3...256, .horizonUser)
        _ = reader.text("sku", 1...256, .horizonProduct)
        purchase = .horizon
      case let other?:
        reader.add(
          "store", "It is apple, google, amazon or horizon, not \"\(ShownText.plain(other, limit: 64))\".")
      case nil: break
      }
      guard let purchase, reader.errors.isEmpty else { throw OpenIAPFailure(.badRequest, reader.errors) }
      self.purchase = purchase
    }

    /// The characters of a text, beside ASCII letters and digits.
    private enum Characters: String {
      case any = ""
      case product = "._-"
      case token = "._~-"
      case amazonUser = "._~=-"
      case amazonReceipt = "._~:=/+-"
      case horizonUser = "_-"
      case horizonProduct = "._:-"

      func allow(_ text: String) -> Bool {
        self == .any || text.utf8.allSatisfy { $0.isASCIILetterOrDigit || rawValue.utf8.contains($0) }
      }
    }

    /// Reads the members of a body, and notes what is wrong with each.
    private struct MemberReader {
      let body: JSONValue
      private(set) var errors: [OpenIAPError] = []

      init(body: JSONValue) { self.body = body }

      mutating func add(_ path: String, _ message: String) {
        errors.append(OpenIAPError(code: OpenIAPFailure.invalidInput, message: message, path: path))
      }

      mutating func text(
        _ name: String, _ length: ClosedRange<Int>, _ characters: Characters, isRequired: Bool = true
      ) -> String? {
        guard let value = body[name], value != .null else {
          if isRequired { add(name, "It is required.") }
          return nil
        }
        guard let text = value.string else {
          add(name, "It takes a text.")
          return nil
        }
        guard length ~= text.utf8.count, characters.allow(text) else {
          let kinds = characters == .any ? "characters" : "letters, digits and \(characters.rawValue)"
          add(name, "It takes \(length.lowerBound) to \(length.upperBound) \(kinds).")
          return nil
        }
        return text
      }

      mutating func flag(_ name: String) {
        guard let value = body[name], value != .null else { return }
        if case .bool = value { return }
        add(name, "It takes true or false.")
      }
    }
  }
#endif
