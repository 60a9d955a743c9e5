// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A list of product identifiers, and how fresh it is.
public struct ProductIdentifierResult: Sendable, Hashable {
  /// How new the list is.
  public enum Freshness: Sendable, Hashable {
    /// The server has just given it.
    case fresh
    /// The server has just said that the list of before is still so.
    case notModified
    /// The server gave no list, for this reason; it is the last good one.
    case stale(ProductIdentifierError)
  }

  /// The list.
  public let list: ProductIdentifierList
  /// How new it is.
  public let freshness: Freshness
  /// When the server last gave it or said that it is still so.
  public let confirmedAt: Timestamp
  /// What went wrong with the cache: that it is damaged and was not used, or could not be written.
  public let notices: [ProductIdentifierError]

  /// Creates a result.
  public init(
    list: ProductIdentifierList, freshness: Freshness, confirmedAt: Timestamp,
    notices: [ProductIdentifierError] = []
  ) {
    self.list = list
    self.freshness = freshness
    self.confirmedAt = confirmedAt
    self.notices = notices
  }
}
