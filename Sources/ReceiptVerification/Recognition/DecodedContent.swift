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
  let summary: String
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
