// SPDX-License-Identifier: Apache-2.0

/// A receipt of any kind: recognized and parsed, but not verified.
public enum UnverifiedReceipt: Sendable, Hashable {
  /// A JWS, whose payload determines its kind.
  case jws(UnverifiedJWS)
  /// The PKCS#7 container of an app receipt.
  case appReceipt(UnverifiedAppReceipt)
  /// The property list of a single transaction.
  case transactionReceipt(UnverifiedTransactionReceipt)
  /// Data with a detached signature, from Google Play or Huawei AppGallery.
  case detached(UnverifiedDetachedReceipt)

  /// Recognizes and parses a receipt.
  ///
  /// White space around text is ignored. Different encodings of the same receipt are harmless, because only the signed
  /// bytes inside matter. The parser accepts:
  /// - a JWS in compact serialization;
  /// - an app receipt in binary;
  /// - the property list of a transaction receipt;
  /// - base64 of one of these three, with or without line breaks or padding, in the alphabet of base64 or base64url,
  ///   and base64 of that base64;
  /// - one of the above after `Bearer`, in a data URI, in a PEM block, percent-encoded, or in hexadecimal in angle
  ///   brackets, the description of an `NSData`;
  /// - a JSON string that contains one of the above;
  /// - a JSON object with exactly one of the members `signedTransactionInfo`, `signedRenewalInfo`,
  ///   `signedAppTransactionInfo`, `signedPayload`, `receipt-data` and `latest_receipt`, whose value is one of the
  ///   above except JSON;
  /// - a JSON object with the string members `data` and `signature`, and `signatureAlgorithm` if the store states it;
  ///   the same under the names that Google's and Huawei's APIs, React Native and Cordova use; and Unity's object with
  ///   `Store`, `TransactionID` and `Payload`.
  ///
  /// - Parameters:
  ///   - bytes: The whole receipt.
  ///   - limits: The limits on size, nesting and number of elements.
  /// - Throws: ``MalformedReceipt``: `empty`; `tooLarge`, before anything is parsed; `unrecognized`; `unsupported` for
  ///   JSON with several receipts, JSON inside JSON, or more than three layers of other wrappings; `wrongType` if one
  ///   of the members is not a string; and the errors of the recognized kind's parser.
  public init(parsing bytes: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    guard !bytes.isEmpty else { throw MalformedReceipt(.empty, at: .whole, "There are no bytes.") }
    try limits.require(bytes.count, of: "receipt", at: .whole)
    if ReceiptText.isBinary(bytes) {
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

  /// Returns the kind of receipt.
  ///
  /// The payload of a JWS, or the data of a detached receipt, is decoded, because only its contents determine the kind.
  ///
  /// - Parameter limits: The limits on the payload.
  /// - Returns: The kind, which is as unverified as the receipt.
  /// - Throws: ``MalformedReceipt`` like ``UnverifiedJWS/decoded(limits:)``.
  public func kind(limits: ReceiptLimits = .standard) throws(MalformedReceipt) -> ReceiptKind {
    switch self {
    case .jws(let jws): try jws.decoded(limits: limits).content.kind
    case .appReceipt: .appReceipt
    case .transactionReceipt: .transactionReceipt
    case .detached(let receipt): try DetachedContent(decoding: receipt.signedBytes, limits: limits).kind
    }
  }

  /// Returns the kind that the receipt claims to be; `nil` if its members imply no kind. The members of a JWS are not
  /// decoded.
  package func claimedKind(limits: ReceiptLimits) -> ReceiptKind? {
    switch self {
    case .jws(let jws): try? JWSPayloadDiscriminators(in: jws.payload, limits: limits).kind
    case .appReceipt: .appReceipt
    case .transactionReceipt: .transactionReceipt
    case .detached(let receipt): DetachedContent.claimedKind(of: receipt.signedBytes)
    }
  }

  /// The receipt without its wrapping. It is the compact JWS, the DER or BER of an app receipt, the property list of a
  /// transaction receipt, or the JSON object of data and signature.
  package var encoded: [UInt8] {
    switch self {
    case .jws(let jws): jws.compact
    case .appReceipt(let receipt): receipt.encoded
    case .transactionReceipt(let receipt): receipt.encoded
    case .detached(let receipt): receipt.encoded
    }
  }

  /// The content that the receipt's signature covers, which is the same for all encodings of the rest. It is the
  /// signing input of a JWS (RFC 7515 section 5.1), the content octets of an app receipt (RFC 5652 section 5.4), the
  /// version and purchase-info of a transaction receipt, or the data of a detached receipt.
  package var signedContent: ArraySlice<UInt8> {
    switch self {
    case .jws(let jws): jws.compact[jws.signingInputRange]
    case .appReceipt(let receipt): receipt.signedData.content
    case .transactionReceipt(let receipt): receipt.signedBytes[...]
    case .detached(let receipt): receipt.signedBytes[...]
    }
  }

  /// Parses text without surrounding white space, after `layers` wrappings have been removed.
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
    case .base64:
      if let refusal = PurchaseName.refusal(of: text) { throw refusal }
      return try parseBase64(text, isInsideJSON: isInsideJSON, layers: layers, limits: limits)
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

  /// Parses text that looks like base64; if it is not, tries percent-decoding and then diagnoses the damage.
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

  /// Parses the bytes decoded from base64 or hexadecimal.
  private static func parseDecoded(
    _ bytes: [UInt8], layers: Int, limits: ReceiptLimits
  ) throws(MalformedReceipt) -> UnverifiedReceipt {
    if ReceiptText.isBinary(bytes) {
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

extension ReceiptLimits {
  /// 16 MiB, 32 levels, a million elements.
  public static let standard = ReceiptLimits()

  /// Throws unless a number of bytes is within the limit; the error is at the limit of the part, or at `place`.
  func require(
    _ byteCount: Int, of part: String, at place: MalformedReceipt.Place? = nil
  ) throws(MalformedReceipt) {
    guard byteCount <= maximumByteCount else {
      throw MalformedReceipt(
        .tooLarge, at: place ?? .byteOffset(maximumByteCount, within: part),
        "The \(part) has \(byteCount) bytes; the limit is \(maximumByteCount).")
    }
  }
}

extension ReceiptKind {
  /// Indicates whether receipts of this kind have a detached signature, made with an app's key and without
  /// certificates.
  package var isDetached: Bool {
    switch self {
    case .googlePlayPurchase, .googlePlayLicense, .huaweiPurchase: true
    case .signedTransaction, .signedRenewalInfo, .signedAppTransaction, .signedNotification,
      .signedRealtimeRequest, .appReceipt, .transactionReceipt:
      false
    }
  }
}

/// Decoded content that has not been verified: anyone may have written it.
///
/// Decoding returns this type. A verifier returns the content itself, in a `VerifiedReceipt`. A caller that needs no
/// proof, for example to display the contents of a file, calls ``unsafelyAssumeAuthentic()``, whose name says so.
///
/// ```swift
/// let jws = try UnverifiedJWS(parsing: bytes)
/// let claims = try jws.decoded().unsafelyAssumeAuthentic()
/// ```
public struct Unverified<Content: Sendable & Hashable>: Sendable, Hashable {
  package let content: Content

  package init(_ content: Content) { self.content = content }

  /// Returns the content without any proof of its origin. Never base a customer's entitlements on it.
  public func unsafelyAssumeAuthentic() -> Content { content }
}
