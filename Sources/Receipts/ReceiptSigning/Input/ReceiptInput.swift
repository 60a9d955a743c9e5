// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A receipt as a person writes it, to be signed: JSON with the names that Apple uses in JWS payloads, dates in
/// milliseconds or in ISO 8601.
///
/// - The JWS kinds are their payloads. Fields that are not known are signed as they are. In a notification,
///   `signedTransactionInfo`, `signedRenewalInfo` and `signedAppTransactionInfo` may be objects, which are
///   signed first.
/// - An app receipt has `bundleId`, `applicationVersion`, `originalApplicationVersion`, `receiptCreationDate`,
///   `environment`, `appAppleId`, `originalPurchaseDate`, `expirationDate`, `deviceId` (a UUID or hexadecimal)
///   and `inApp`, an array of transactions.
/// - A transaction receipt is one transaction with, besides, `applicationVersion` (or `bvrs`), `version` (3 or
///   4), `appAppleId`, `itemId`, `versionExternalIdentifier`, `uniqueIdentifier`, `uniqueVendorIdentifier`.
///
/// - A purchase of Google Play or Huawei AppGallery has the members that the store signs (`packageName`, `productId`,
///   `orderId`, `purchaseTime`…), or `orders` for the form of 2011; a licence response has `responseCode`, `nonce`,
///   `packageName`, `versionCode`, `userId`, `timestamp` and `extras`.
///
/// In the two older kinds a name that is not known is an error, since nothing would become of it. The fields of
/// a JWS transaction for which they have no place are accepted and left out.
///
/// ```json
/// {"bundleId": "com.example.app", "productId": "coins.100", "transactionId": "1000",
///  "purchaseDate": "2025-10-01T07:09:12Z", "environment": "Sandbox"}
/// ```
public struct ReceiptInput: Sendable {
  enum Content: Sendable {
    case jws(JWSPayload)
    case notification(Notification, parts: [NotificationPart])
    case appReceipt(AppReceiptPayload, deviceIdentifier: [UInt8]?)
    case transactionReceipt(TransactionReceiptInput)
    case detached(DetachedContent)
  }

  /// The kind.
  public let kind: ReceiptKind
  let content: Content

  /// Reads authoring JSON.
  ///
  /// - Parameters:
  ///   - json: The JSON document, one object.
  ///   - kind: The kind of receipt that it becomes.
  ///   - now: The signing date (`signedDate`, `receiptCreationDate`) where the JSON does not state it.
  ///   - limits: Bounds on size and nesting.
  /// - Throws: ``SigningError`` with `malformed-input`, `missing-field` or `unknown-field`, placed at the JSON
  ///   path.
  public init(
    decoding json: [UInt8], as kind: ReceiptKind, signedAt now: Timestamp, limits: ReceiptLimits = .standard
  ) throws(SigningError) {
    let document: JSONValue
    do throws(MalformedReceipt) {
      document = try JSONValue(parsing: json, limits: limits)
    } catch {
      throw SigningError(error)
    }
    guard case .object(let members) = document else {
      throw SigningError(.malformedInput, at: "$", "The document must be one JSON object.")
    }
    self.kind = kind
    // Milliseconds in which a payload is signed are whole.
    let now = Timestamp(millisecondsSince1970: now.millisecondsSince1970.rounded(.down))
    switch kind {
    case .signedNotification:
      content = try NotificationInput.content(members, signedAt: now, limits: limits)
    case .appReceipt:
      content = try AppReceiptInput.content(members, signedAt: now, limits: limits)
    case .transactionReceipt:
      content = .transactionReceipt(try TransactionReceiptInput(members, limits: limits))
    case .googlePlayPurchase, .googlePlayLicense, .huaweiPurchase:
      content = .detached(try DetachedInput.content(members, as: kind, signedAt: now, limits: limits))
    case .signedTransaction, .signedRenewalInfo, .signedAppTransaction, .signedRealtimeRequest:
      content = .jws(
        try JWSInput.payload(members, as: kind, at: JSONPath(), signedAt: now, limits: limits))
    }
  }

  /// The receipt's signing time; the purchase date of a transaction receipt.
  public var signedAt: Timestamp? {
    switch content {
    case .jws(let payload): payload.signedDate
    case .notification(let notification, _): notification.signedDate
    case .appReceipt(let payload, _): payload.receiptCreationDate
    case .transactionReceipt(let receipt): receipt.purchaseInfo.purchaseDate
    case .detached(let content): content.signedDate
    }
  }
}

/// A place in authoring JSON.
struct JSONPath {
  var path = "$"

  func member(_ name: String) -> JSONPath { JSONPath(path: "\(path).\(name)") }
  func element(_ index: Int) -> JSONPath { JSONPath(path: "\(path)[\(index)]") }

  func failure(_ code: SigningError.Code, _ message: String) -> SigningError {
    SigningError(code, at: path, message)
  }

  func missing(_ name: String, _ advice: String) -> SigningError {
    member(name).failure(.missingField, "The field \"\(name)\" is missing. \(advice)")
  }

  /// The codec's error about a part that stands here.
  func failure(_ error: MalformedReceipt) -> SigningError {
    let code: SigningError.Code = error.code == .missing ? .missingField : .malformedInput
    guard case .jsonPath(let inner) = error.place, inner.hasPrefix("$") else {
      return failure(code, error.description)
    }
    return SigningError(code, at: path + inner.dropFirst(), error.message)
  }
}
