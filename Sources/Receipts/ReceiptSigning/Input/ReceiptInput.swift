// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// A receipt to be signed, in JSON with the names of Apple's JWS payloads and dates in milliseconds or in ISO 8601.
///
/// - A JWS kind is its payload. Unknown fields are signed unchanged. In a notification, `signedTransactionInfo`,
///   `signedRenewalInfo` and `signedAppTransactionInfo` may be objects, which are signed first.
/// - An app receipt has `bundleId` and the other fields that the article *Wire types* of `ReceiptCodec` lists for an
///   `AppReceiptPayload`, `deviceId` (a UUID or hexadecimal) and `inApp`, an array of transactions, which may have the
///   fields that it lists for an `InAppPurchase` too.
/// - A transaction receipt is one transaction that also has `applicationVersion` (or `bvrs`), `version` (3 or 4),
///   `appAppleId`, `itemId`, `versionExternalIdentifier`, `uniqueIdentifier` and `uniqueVendorIdentifier`.
/// - A purchase of Google Play or Huawei AppGallery has the members that the store signs (`packageName`, `productId`,
///   `orderId`, `purchaseTime`…), or `orders` for the form of 2011. A licence response has `responseCode`, `nonce`,
///   `packageName`, `versionCode`, `userId`, `timestamp` and `extras`.
///
/// In app receipts, transaction receipts and licence responses an unknown name is an error, because it would have no
/// effect. In the first two, fields of a JWS transaction that have no place in the receipt are accepted and omitted.
///
/// ```json
/// {"bundleId": "com.example.app", "productId": "coins.100", "transactionId": "1000",
///  "purchaseDate": "2025-10-01T07:09:12Z", "environment": "Sandbox"}
/// ```
package struct ReceiptInput: Sendable {
  enum Content: Sendable {
    case jws(JWSPayload)
    case notification(Notification, parts: [NotificationPart])
    case appReceipt(AppReceiptPayload, deviceIdentifier: [UInt8]?)
    case transactionReceipt(TransactionReceiptInput)
    case detached(DetachedContent)
  }

  package let kind: ReceiptKind
  let content: Content

  /// Reads authoring JSON.
  ///
  /// - Parameters:
  ///   - json: The JSON document, one object.
  ///   - kind: The kind of receipt to create.
  ///   - now: The signing date (`signedDate`, `receiptCreationDate`) if the JSON does not state it.
  ///   - limits: The bounds on size and nesting.
  /// - Throws: ``SigningError`` with `malformed-input`, `missing-field` or `unknown-field`, with the JSON path as its
  ///   place.
  package init(
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
    // Payloads state the signing time in whole milliseconds.
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

  /// The receipt's signing time; for a transaction receipt, the purchase date.
  package var signedAt: Timestamp? {
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

  /// Returns the codec's error about a part at this place.
  func failure(_ error: MalformedReceipt) -> SigningError {
    let code: SigningError.Code = error.code == .missing ? .missingField : .malformedInput
    guard case .jsonPath(let inner) = error.place, inner.hasPrefix("$") else {
      return failure(code, error.description)
    }
    return SigningError(code, at: path + inner.dropFirst(), error.message)
  }
}
