// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The content of a receipt, decoded after its signature was verified.
struct DecodedContent {
  let content: VerifiedReceipt.Content
  /// The content's statements about itself, in terms that all kinds share.
  let claims: Claims
  /// The unverified signed parts of a notification, in the order transaction, renewal info, app transaction.
  var parts: [SignedPart] = []

  /// The summary of the content for diagnostics.
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
  /// The kind of receipt that is expected in its place.
  let kind: ReceiptKind
  /// The place in the notification, as a JSON path.
  let place: String
}
