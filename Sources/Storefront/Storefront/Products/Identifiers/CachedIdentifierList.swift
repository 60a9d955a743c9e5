// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

extension CachedIdentifierList {
  static let currentFormat = "receiptkit-product-identifiers"
  static let currentVersion: Int64 = 1

  init(
    url: String, etag: String?, lastModified: String?, confirmedAt: Timestamp, list: ProductIdentifierList
  ) {
    self.init(
      url: url, etag: etag.flatMap(Self.usable), lastModified: lastModified.flatMap(Self.usable),
      confirmedAt: confirmedAt, identifiers: list.identifiers + list.duplicates)
  }

  /// Reads a file. It is refused if its checksum is wrong.
  init(file: [UInt8]) throws(ProductIdentifierError) {
    do throws(MalformedReceipt) {
      try self.init(json: file, part: "cache", limits: .standard, isStrict: true)
    } catch {
      throw ProductIdentifierError(error)
    }
    guard format == Self.currentFormat, version == Self.currentVersion, sha256 == checksum,
      etag == etag.flatMap(Self.usable), lastModified == lastModified.flatMap(Self.usable)
    else { throw ProductIdentifierError(.malformed, at: "$.sha256", "The cache is not as it was written.") }
  }

  var encodedFile: [UInt8] {
    var copy = self
    copy.sha256 = checksum
    return copy.encodedJSON()
  }

  /// `true` if a conditional request is possible.
  var isConditional: Bool { etag != nil || lastModified != nil }

  private var checksum: String {
    var copy = self
    copy.sha256 = nil
    return Hexadecimal.encode(Digest.hash(copy.encodedJSON(), using: .sha256))
  }

  /// Returns a header value if it can be sent back safely: printable ASCII.
  private static func usable(_ value: String) -> String? {
    1...1024 ~= value.utf8.count && value.utf8.allSatisfy { 0x20..<0x7F ~= $0 } ? value : nil
  }
}
