// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Fetches the content of an item (`CalStoreCalendarBundleRequest`) into memory. For large content, or to keep it on
/// disk, start a ``Download``.
public struct BundleRequest: Sendable {
  /// The greatest size of a bundle, in bytes.
  package static let maximumByteCount = 64 << 20
  private static let partByteCount = 4 << 20

  /// The content of the item, with its address, length and digest; `nil` if it comes with the transaction.
  package let content: DownloadableContent?
  private let item: PurchasableItem
  private let items: PurchasableItems

  init(_ content: DownloadableContent?, of item: PurchasableItem, items: PurchasableItems) {
    self.content = content
    self.item = item
    self.items = items
  }

  /// Fetches the bundle and verifies its digest. To cancel it, cancel the task.
  /// - Returns: The bundle.
  /// - Throws: ``DownloadError``, with `not-purchased` if the item has no content of its own and no unfinished
  ///   transaction in the queue has any.
  public func bundle() async throws(DownloadError) -> ContentBundle {
    var found = content
    if found == nil { found = await items.content(of: item.allProductIdentifiers) }
    guard let content = found else {
      throw DownloadError(
        .notPurchased, at: item.identifier,
        "It has no content of its own, and no transaction in the queue has: buy or restore it first.")
    }
    let source = try ContentSource(content)
    guard source.length <= Int64(Self.maximumByteCount) else {
      throw DownloadError(
        .invalidContent, at: content.contentIdentifier,
        "A bundle has at most \(Self.maximumByteCount) bytes. Download it instead.")
    }
    var bytes: [UInt8] = []
    while bytes.count < source.length {
      let piece = try await items.fetcher.piece(
        of: source, at: Int64(bytes.count), count: Self.partByteCount, validator: nil,
        maximumWholeByteCount: Self.maximumByteCount)
      switch piece {
      case .part(let more, _): bytes += more
      case .whole(let all, _): bytes = all
      case .unsatisfiable: throw source.lengthMismatch(Int64(bytes.count))
      }
    }
    guard Digest.hash(bytes, using: .sha256) == source.sha256 else {
      throw source.error(.checksumMismatch, "The content is not what the store says.")
    }
    return ContentBundle(
      identifier: content.contentIdentifier, version: content.contentVersion, bytes: bytes)
  }
}

/// The complete content of an item, with a verified digest (`CalStoreCalendarBundle`).
public struct ContentBundle: Sendable, Hashable {
  /// The identifier of the content.
  package let identifier: String
  /// Its version.
  package let version: String
  /// Its bytes.
  public let bytes: [UInt8]
}
