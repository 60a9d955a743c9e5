// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// A list from a server, cached on disk with the validators for a conditional request. The JSON file contains its own
/// checksum, so that damage is detected.
struct CachedIdentifierList: JSONObject, Equatable {
  static let format = "receiptkit-product-identifiers"
  static let currentVersion: Int64 = 1

  var format = Self.format
  var version = Self.currentVersion
  /// The address that it was fetched from.
  var url = ""
  var etag: String?
  var lastModified: String?
  /// When the server last sent it or confirmed that it has not changed.
  var confirmedAt = Timestamp(millisecondsSince1970: 0)
  /// The identifiers; duplicates of the list follow at the end.
  var identifiers: [String] = []
  var sha256: String?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case format, version, url, etag, lastModified, confirmedAt, identifiers, sha256
  }
  static let fieldNames = JSONFieldNames<Field>(required: [
    .format, .version, .url, .confirmedAt, .identifiers, .sha256,
  ])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .format: try coder.code(&format)
    case .version: try coder.code(&version)
    case .url: try coder.code(&url)
    case .etag: try coder.code(&etag)
    case .lastModified: try coder.code(&lastModified)
    case .confirmedAt: try coder.code(&confirmedAt)
    case .identifiers: try coder.code(&identifiers)
    case .sha256: try coder.code(&sha256)
    }
  }

  init() {}

  init(
    url: String, etag: String?, lastModified: String?, confirmedAt: Timestamp, list: ProductIdentifierList
  ) {
    self.url = url
    self.etag = etag.flatMap(Self.usable)
    self.lastModified = lastModified.flatMap(Self.usable)
    self.confirmedAt = confirmedAt
    identifiers = list.identifiers + list.duplicates
  }

  /// Reads a file, and refuses one whose checksum is wrong.
  init(file: [UInt8]) throws(ProductIdentifierError) {
    do throws(MalformedReceipt) {
      try self.init(json: file, part: "cache", limits: .standard)
    } catch {
      throw ProductIdentifierError(error)
    }
    guard format == Self.format, version == Self.currentVersion, unknownFields.isEmpty, sha256 == checksum,
      etag == etag.flatMap(Self.usable), lastModified == lastModified.flatMap(Self.usable)
    else { throw ProductIdentifierError(.malformed, at: "$.sha256", "The cache is not as it was written.") }
  }

  var encodedFile: [UInt8] {
    var copy = self
    copy.sha256 = checksum
    return copy.encodedJSON()
  }

  /// Whether a conditional request is possible.
  var isConditional: Bool { etag != nil || lastModified != nil }

  func list() throws(ProductIdentifierError) -> ProductIdentifierList {
    try ProductIdentifierList(identifiers)
  }

  private var checksum: String {
    var copy = self
    copy.sha256 = nil
    return Hexadecimal.encode(Digest.hash(copy.encodedJSON(), using: .sha256))
  }

  /// A header value that is safe to send back: printable ASCII.
  private static func usable(_ value: String) -> String? {
    1...1024 ~= value.utf8.count && value.utf8.allSatisfy { 0x20..<0x7F ~= $0 } ? value : nil
  }
}
