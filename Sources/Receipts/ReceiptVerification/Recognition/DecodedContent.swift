// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The content of a receipt, decoded after its signature was verified.
struct DecodedContent {
  /// The typed content.
  let content: VerifiedReceipt.Content
  /// What it says of itself, in the terms that all kinds share.
  let claims: Claims
  /// The signed parts inside a notification, not verified yet, in the order transaction, renewal info, app transaction.
  var parts: [SignedPart] = []

  /// What was found, for diagnostics.
  var summary: String {
    switch content {
    case .jws(let payload): "it is a \(payload.kind.rawValue)"
    case .appReceipt(let payload): "it has \(payload.inAppPurchases.count) in-app purchase(s)"
    case .transactionReceipt(let purchaseInfo): "it is a purchase of \(purchaseInfo.productId ?? "")"
    case .detached(let content):
      "it is a \(content.kind.rawValue) with \(content.transactions.count) purchase(s)"
    }
  }
}

/// A signed part inside a notification.
struct SignedPart {
  /// The part in compact serialization.
  let compact: String
  /// The kind that belongs in its place.
  let kind: ReceiptKind
  /// Where it stands in the notification, a JSON path.
  let place: String
}
