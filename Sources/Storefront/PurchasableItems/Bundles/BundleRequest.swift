// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Fetches the content of an item (`CalStoreCalendarBundleRequest`) into memory. For large content, or to keep it on
/// disk, start a ``Download``.
public struct BundleRequest: Sendable {
  /// The longest bundle.
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
  ///
  /// - Returns: The bundle.
  /// - Throws: ``DownloadError``; `not-purchased` for an item without content of its own, if no unfinished transaction
  ///   in the queue has any.
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
    let place = ContentFetcher.place(source.url)
    let bytes = try await fetch(source, place)
    guard Digest.hash(bytes, using: .sha256) == source.sha256 else {
      throw DownloadError(.checksumMismatch, at: place, "The content is not what the store says.")
    }
    return ContentBundle(
      identifier: content.contentIdentifier, version: content.contentVersion, bytes: bytes)
  }

  private func fetch(_ source: ContentSource, _ place: String) async throws(DownloadError) -> [UInt8] {
    let mismatch = DownloadError(
      .lengthMismatch, at: place, "The content has not the \(source.length) bytes that the store says.")
    var bytes: [UInt8] = []
    while Int64(bytes.count) < source.length {
      let rest = Int(source.length) - bytes.count
      switch try await items.fetcher.part(
        of: source.url, at: Int64(bytes.count), count: min(rest, Self.partByteCount), validator: nil)
      {
      case .part(let more, let total, _):
        if let total, total != source.length { throw mismatch }
        bytes += more
      case .whole(let all, _): return all
      case .unsatisfiable: throw mismatch
      case .exceedsLimit:
        guard
          case .whole(let all, _) = try await items.fetcher.whole(of: source.url, limit: Int(source.length))
        else {
          throw mismatch
        }
        return all
      }
    }
    return bytes
  }
}

/// The complete content of an item, with a verified digest (`CalStoreCalendarBundle`).
public struct ContentBundle: Sendable, Hashable {
  /// The identifier of the content.
  public let identifier: String
  /// Its version.
  public let version: String
  /// Its bytes.
  public let bytes: [UInt8]
}
