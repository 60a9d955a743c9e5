// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Signed data with a detached signature, in which Google Play and Huawei deliver purchases.
///
/// It is parsed, but none of its contents has been verified.
///
/// ```json
/// {"data": "{\"orderId\":\"GPA.3374-…\",…}", "signature": "nxteFf90gheF…"}
/// ```
///
/// The signature covers the exact UTF-8 bytes of the data. It does not match data that was parsed and serialized again:
/// the order of members, white space, escapes and all digits of numbers matter.
public struct UnverifiedDetachedReceipt: Sendable, Hashable {
  /// The signed data, exactly as received.
  package let signedBytes: [UInt8]
  /// The signature; empty if the receipt has none.
  package let signature: [UInt8]
  /// The algorithm stated beside the signature, such as `SHA256WithRSA/PSS`; `nil` if none is stated. It is not signed.
  package let statedAlgorithm: String?
  /// The receipt as a JSON object: `data`, `signature` and, if it is stated, `signatureAlgorithm`.
  package let encoded: [UInt8]

  /// Creates a receipt from data and a signature that were received separately.
  ///
  /// - Throws: ``MalformedReceipt``: `invalidUTF8` at `$.data`, or `invalidBase64` at `$.signature`. For common kinds
  ///   of damage, the message explains how the signature was damaged.
  package init(
    signedBytes: [UInt8], signature: String, algorithm: String? = nil
  ) throws(MalformedReceipt) {
    guard let data = UTF8Text.string(signedBytes.span) else {
      throw MalformedReceipt(.invalidUTF8, at: .jsonPath("$.data"), "The data is not valid UTF-8.")
    }
    var json = JSONWriter()
    json.object { json in
      json.member("data", data)
      json.member("signature", signature)
      json.member("signatureAlgorithm", algorithm)
    }
    try self.init(
      signedBytes: signedBytes, signatureText: Array(signature.utf8)[...], algorithm: algorithm,
      encoded: json.bytes, at: "$.signature")
  }

  /// Creates a receipt that was read from JSON, and keeps the JSON.
  init(
    signedBytes: [UInt8], signatureText: ArraySlice<UInt8>, algorithm: String?, encoded: [UInt8],
    at place: String
  ) throws(MalformedReceipt) {
    self.signedBytes = signedBytes
    self.statedAlgorithm = algorithm?.isEmpty == true ? nil : algorithm
    self.encoded = encoded
    do throws(Base64Error) {
      signature = try Base64.decode(signatureText)
    } catch {
      throw MalformedReceipt(
        .invalidBase64, at: .jsonPath(place), SignatureDamage.explanation(of: signatureText, error))
    }
  }

  /// Parses a JSON object that holds a receipt. For the members that are accepted, see ``UnverifiedReceipt``.
  ///
  /// - Throws: ``MalformedReceipt`` like ``UnverifiedReceipt/init(parsing:limits:)``, or with `unrecognized` if the
  ///   JSON holds another kind of receipt.
  package init(parsing json: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    guard case .detached(let receipt) = try JSONWrapping.unwrap(json, limits: limits) else {
      throw MalformedReceipt(
        .unrecognized, at: .jsonPath("$"), "The JSON holds no data with its signature beside it.")
    }
    self = receipt
  }

  /// Decodes the signed data.
  ///
  /// - Parameter limits: The limits on size and nesting.
  /// - Returns: The content, whose kind is inferred from its members.
  /// - Throws: ``MalformedReceipt`` with the JSON path inside the data, or the byte offset.
  public func decoded(
    limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) -> Unverified<DetachedContent> {
    Unverified(try DetachedContent(decoding: signedBytes, limits: limits))
  }
}

/// Explains how a base64 signature was damaged in transit.
enum SignatureDamage {
  /// Returns an explanation of the error.
  static func explanation(of text: ArraySlice<UInt8>, _ error: Base64Error) -> String {
    let sign = signs.first { sign in text.contains { sign.bytes.utf8.contains($0) } }
    let isCut = text.count % 4 != 0 && !text.contains(UInt8(ascii: "="))
    let cause = sign?.explanation ?? (isCut ? cut : error.message)
    return "The signature is not standard base64. \(cause) Pass it exactly as the store gave it."
  }

  private static let cut = "The padding (\"=\") at its end is missing, or it was cut short."

  /// The signs of damage in a signature, the most conclusive first: one of the bytes stands in it.
  private static let signs: [(bytes: String, explanation: String)] = [
    (
      "\\",
      explanation:
        "JSON escapes such as \"\\/\" or \"\\u003d\" stand in it: it was taken out of JSON without decoding the string."
    ),
    ("%", "Percent-encoding such as \"%2B\" stands in it: decode the form or the URL first."),
    (
      " ",
      "A space stands where \"+\" belongs: it passed through a form or a URL in which \"+\" was not written %2B."
    ),
    ("-_", "It has characters of base64url; the store writes standard base64."),
    ("\t\n\r", "It has line breaks or tabs; the store writes one line."),
  ]
}
