// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A list of product identifiers, and how fresh it is.
public struct ProductIdentifierResult: Sendable, Hashable {
  /// How new the list is.
  public enum Freshness: Sendable, Hashable {
    /// The server sent it.
    case fresh
    /// The server confirmed that the cached list has not changed.
    case notModified
    /// The server did not send a list, for this reason; this is the last valid one.
    case stale(ProductIdentifierError)
  }

  /// The list.
  public let list: ProductIdentifierList
  /// How new it is.
  public let freshness: Freshness
  /// When the server last sent it or confirmed that it has not changed.
  public let confirmedAt: Timestamp
  /// Errors of the cache: it is damaged and was not used, or it could not be written.
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
