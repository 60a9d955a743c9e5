// SPDX-License-Identifier: Apache-2.0

/// A receipt of any kind as it came: recognized and parsed, nothing of it verified.
public enum UnverifiedReceipt: Sendable, Hashable {
  /// A JWS; its payload says which of the signed kinds it is.
  case jws(UnverifiedJWS)
  /// The PKCS#7 container of an app.
  case appReceipt(UnverifiedAppReceipt)
  /// The property list of one transaction.
  case transactionReceipt(UnverifiedTransactionReceipt)
  /// Data with its signature beside it, of Google Play or Huawei AppGallery.
  case detached(UnverifiedDetachedReceipt)

  /// Recognizes and parses a receipt.
  ///
  /// White space around text is ignored. Read are:
  /// - a JWS in compact form;
  /// - an app receipt in binary;
  /// - the property list of a transaction receipt;
  /// - base64 of one of these three, in lines or not, also with the alphabet of base64url or without padding, and base64
  ///   of that base64;
  /// - one of the above after `Bearer`, in a data URI, in a PEM block, percent-encoded, or in hexadecimal in angle brackets,
  ///   as `NSData` describes itself;
  /// - a JSON string that holds one of the above, and a JSON object with exactly one of the members
  ///   `signedTransactionInfo`, `signedRenewalInfo`, `signedAppTransactionInfo`, `signedPayload`,
  ///   `receipt-data` and `latest_receipt`, whose value is one of the above, but not JSON once more;
  /// - a JSON object with the members `data` and `signature`, both strings, and `signatureAlgorithm` where the store
  ///   states it; the same under the names that Google's and Huawei's interfaces, React Native and Cordova use; and
  ///   Unity's object of `Store`, `TransactionID` and `Payload`.
  ///
  /// - Parameters:
  ///   - bytes: The whole receipt.
  ///   - limits: Bounds on size, nesting and number of elements.
  /// Only the signed bytes inside matter, so that more than one spelling of what is around them does no harm.
  ///
  /// - Throws: ``MalformedReceipt``: `empty`; `tooLarge`, before anything is looked at; `unrecognized`;
  ///   `unsupported` for JSON with several receipts, JSON inside JSON, or more than three layers of other wrappings; `wrongType` for one of the members
  ///   that is not a string; and whatever the kind that was recognized throws.
  public init(parsing bytes: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    guard !bytes.isEmpty else { throw MalformedReceipt(.empty, at: .whole, "There are no bytes.") }
    guard bytes.count <= limits.maximumByteCount else {
      throw MalformedReceipt(
        .tooLarge, at: .whole,
        "The receipt is longer than the limit of \(limits.maximumByteCount) bytes.")
    }
    // Binary is taken as it is: white space at its end would be part of it.
    if bytes[0] == 0x30 {
      self = .appReceipt(try UnverifiedAppReceipt(parsing: bytes, limits: limits))
      return
    }
    let text = ReceiptText.trimming(bytes)
    guard let first = text.first else {
      throw MalformedReceipt(.empty, at: .whole, "There is only white space.")
    }
    guard first != UInt8(ascii: "[") else {
      throw MalformedReceipt(
        .unrecognized, at: .jsonPath("$"), "A JSON array is not a receipt; pass its elements one by one.")
    }
    self = try Self.parse(text, isInsideJSON: false, layers: 0, limits: limits)
  }

  /// Which kind it is. The payload of a JWS, or the data beside a signature, is decoded to tell, since nothing else does.
  ///
  /// - Parameter limits: Bounds on the payload.
  /// - Returns: The kind, which is as unverified as the receipt.
  /// - Throws: ``MalformedReceipt`` as ``UnverifiedJWS/decoded(limits:)`` does.
  public func kind(limits: ReceiptLimits = .standard) throws(MalformedReceipt) -> ReceiptKind {
    switch self {
    case .jws(let jws): try jws.decodePayload(limits: limits).kind
    case .appReceipt: .appReceipt
    case .transactionReceipt: .transactionReceipt
    case .detached(let receipt): try DetachedContent(decoding: receipt.signedBytes, limits: limits).kind
    }
  }

  /// The kind that the receipt claims to be, inferred from the members of a JWS without decoding them; `nil` if they
  /// imply none.
  package func claimedKind(limits: ReceiptLimits) -> ReceiptKind? {
    switch self {
    case .jws(let jws): try? JWSPayloadDiscriminators(in: jws.payload, limits: limits).kind
    case .appReceipt: .appReceipt
    case .transactionReceipt: .transactionReceipt
    case .detached(let receipt): DetachedContent.claimedKind(of: receipt.signedBytes)
    }
  }

  /// The receipt without its wrapping: the compact JWS, the DER or BER of an app receipt, the property list of a
  /// transaction receipt, the JSON object of data and signature.
  package var encoded: [UInt8] {
    switch self {
    case .jws(let jws): jws.compact
    case .appReceipt(let receipt): receipt.encoded
    case .transactionReceipt(let receipt): receipt.encoded
    case .detached(let receipt): receipt.encoded
    }
  }

  /// What a signature of the receipt covers, whatever the spelling of all else: the signing input of a JWS (RFC 7515
  /// section 5.1), the content octets of an app receipt (RFC 5652 section 5.4), version and purchase-info of a
  /// transaction receipt, the data beside a signature.
  package var signedContent: ArraySlice<UInt8> {
    switch self {
    case .jws(let jws): jws.compact[jws.signingInputRange]
    case .appReceipt(let receipt): receipt.signedData.content
    case .transactionReceipt(let receipt): receipt.signedBytes[...]
    case .detached(let receipt): receipt.signedBytes[...]
    }
  }

  /// Parses text without white space around it, `layers` of wrappings having been removed.
  private static func parse(
    _ text: [UInt8], isInsideJSON: Bool, layers: Int, limits: ReceiptLimits
  ) throws(MalformedReceipt) -> UnverifiedReceipt {
    if let content = try TextWrapping.content(of: text) {
      try requireLayer(layers)
      switch content {
      case .text(let text):
        return try parse(text, isInsideJSON: isInsideJSON, layers: layers + 1, limits: limits)
      case .bytes(let bytes): return try parseDecoded(bytes, layers: layers + 1, limits: limits)
      }
    }
    switch ReceiptText.shape(of: text.span) {
    case .jws: return .jws(try UnverifiedJWS(parsing: text, limits: limits))
    case .propertyList:
      return .transactionReceipt(try UnverifiedTransactionReceipt(parsing: text, limits: limits))
    case .base64: return try parseBase64(text, isInsideJSON: isInsideJSON, layers: layers, limits: limits)
    case .jsonString, .jsonObject:
      guard !isInsideJSON else {
        throw MalformedReceipt(
          .unsupported, at: .jsonPath("$"), "There is JSON inside the JSON; unwrap the receipt first.")
      }
      switch try JSONWrapping.unwrap(text, limits: limits) {
      case .detached(let receipt): return .detached(receipt)
      case .text(let inner):
        return try parse(ReceiptText.trimming(inner), isInsideJSON: true, layers: layers, limits: limits)
      }
    case .unknown:
      if text.isEmpty {
        throw MalformedReceipt(
          .empty, at: .whole, "The \(isInsideJSON ? "JSON" : "wrapping") holds an empty text.")
      }
      throw MalformedReceipt(
        .unrecognized, at: isInsideJSON ? .jsonPath("$") : .byteOffset(0, within: "input"),
        "This is neither a JWS, nor an app receipt, nor a transaction receipt, nor base64 or JSON with one in it."
      )
    }
  }

  private static func requireLayer(_ layers: Int) throws(MalformedReceipt) {
    guard layers < TextWrapping.maximumLayers else {
      throw MalformedReceipt(
        .unsupported, at: .whole,
        "There are more than \(TextWrapping.maximumLayers) wrappings around the receipt; unwrap it first.")
    }
  }

  /// Parses text that seems to be base64. If it is not, the damage may be undone or named.
  private static func parseBase64(
    _ text: [UInt8], isInsideJSON: Bool, layers: Int, limits: ReceiptLimits
  ) throws(MalformedReceipt) -> UnverifiedReceipt {
    do throws(MalformedReceipt) {
      return try parseDecoded(try ReceiptText.decodeBase64(text), layers: layers, limits: limits)
    } catch {
      if let plain = try TextWrapping.percentDecoded(text) {
        try requireLayer(layers)
        return try parse(plain, isInsideJSON: isInsideJSON, layers: layers + 1, limits: limits)
      }
      throw TextWrapping.damage(toBase64: text) ?? error
    }
  }

  /// Parses what base64 or hexadecimal held.
  private static func parseDecoded(
    _ bytes: [UInt8], layers: Int, limits: ReceiptLimits
  ) throws(MalformedReceipt) -> UnverifiedReceipt {
    if bytes.first == 0x30 {
      return .appReceipt(try UnverifiedAppReceipt(parsing: bytes, limits: limits))
    }
    let text = ReceiptText.trimming(bytes)
    switch ReceiptText.shape(of: text.span) {
    case .propertyList:
      return .transactionReceipt(try UnverifiedTransactionReceipt(parsing: bytes, limits: limits))
    case .jws: return .jws(try UnverifiedJWS(parsing: text, limits: limits))
    case .base64:
      // Most bytes that begin like base64 are not base64.
      guard let inner = try? ReceiptText.decodeBase64(text) else { break }
      try requireLayer(layers)
      return try parseDecoded(inner, layers: layers + 1, limits: limits)
    case .jsonObject:
      throw MalformedReceipt(
        .unrecognized, at: .byteOffset(0, within: "decoded base64"),
        "The base64 holds JSON. If it is a part of a JWS, pass all three parts with the dots between them.")
    case .jsonString, .unknown: break
    }
    throw MalformedReceipt(
      .unrecognized, at: .byteOffset(0, within: "decoded base64"),
      "The base64 holds neither an app receipt, nor a transaction receipt, nor a JWS.")
  }
}

/// The kinds of signed proof of purchase. The raw values are the names that `receipt-tool` prints.
public enum ReceiptKind: String, Sendable, Hashable, CaseIterable, Codable {
  /// A JWS whose payload is a transaction (`signedTransactionInfo`).
  case signedTransaction = "signed-transaction"
  /// A JWS whose payload is subscription renewal information (`signedRenewalInfo`).
  case signedRenewalInfo = "signed-renewal-info"
  /// A JWS whose payload is an app transaction (`signedAppTransactionInfo`).
  case signedAppTransaction = "signed-app-transaction"
  /// A JWS whose payload is an App Store Server Notification version 2 (`signedPayload`).
  case signedNotification = "signed-notification"
  /// A JWS whose payload is a realtime request of the Retention Messaging API (`signedPayload`).
  case signedRealtimeRequest = "signed-realtime-request"
  /// The PKCS#7 container of an app, with all its purchases (`receipt-data`).
  case appReceipt = "app-receipt"
  /// The property list of one `SKPaymentTransaction` of iOS 6 and before.
  case transactionReceipt = "transaction-receipt"
  /// A purchase at Google Play, or an order list of its first years (`INAPP_PURCHASE_DATA`), with its signature.
  case googlePlayPurchase = "google-play-purchase"
  /// A response of Google Play's licensing, with its signature.
  case googlePlayLicense = "google-play-license"
  /// A purchase at Huawei AppGallery (`InAppPurchaseData`), with its signature.
  case huaweiPurchase = "huawei-purchase"

  /// Indicates whether it is data with a signature beside it, by the key of an app and without certificates.
  package var isDetached: Bool {
    switch self {
    case .googlePlayPurchase, .googlePlayLicense, .huaweiPurchase: true
    case .signedTransaction, .signedRenewalInfo, .signedAppTransaction, .signedNotification,
      .signedRealtimeRequest, .appReceipt, .transactionReceipt:
      false
    }
  }
}
