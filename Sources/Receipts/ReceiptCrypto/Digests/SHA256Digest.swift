// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A SHA-256 digest, whose 32 bytes are stored inline so that it needs no allocation.
public struct SHA256Digest: Sendable, Hashable {
  package static let byteCount = 32

  /// The bytes in order, eight in each word, the first highest.
  @usableFromInline package let words: (UInt64, UInt64, UInt64, UInt64)

  @inlinable
  package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  /// Creates a digest from its bytes; `nil` unless there are exactly 32.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount, let words = PrefixedSHA256.words(of: bytes) else { return nil }
    self.init(inMemory: words)
  }

  /// Creates a digest from 64 hexadecimal digits; `nil` for any other text.
  public init?(hexadecimal text: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(text) else { return nil }
    self.init(bytes)
  }

  /// Creates a digest from its canonical base64 (RFC 4648 section 4); `nil` for any other text.
  package init?(base64 text: some StringProtocol) {
    self.init(base64: Array(text.utf8)[...])
  }

  /// Creates a digest from its canonical base64; `nil` for any other text.
  package init?(base64 text: ArraySlice<UInt8>) {
    guard text.count == Base64.digestCount, let words = Base64.decode(digestIn: text.span, at: 0) else {
      return nil
    }
    self.init(words: words)
  }

  /// Computes the digest of `bytes`.
  public init(of bytes: [UInt8]) { self.init(of: bytes.span) }

  package init(of bytes: Span<UInt8>) { self.init(inMemory: PrefixedSHA256.hash(prefix: nil, bytes)) }

  /// Creates a digest from its words in memory order.
  package init(inMemory words: PrefixedSHA256.Words) {
    self.init(
      words: (
        UInt64(bigEndian: words.0), UInt64(bigEndian: words.1), UInt64(bigEndian: words.2),
        UInt64(bigEndian: words.3)
      ))
  }

  /// The 32 bytes of the digest.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    append(to: &bytes)
    return bytes
  }

  package func append(to bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: inMemory) { unsafe bytes.append(contentsOf: $0) }
  }

  package func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    unsafe withUnsafeBytes(of: inMemory) { bytes in
      unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe body($0.span) }
    }
  }

  package var inMemory: PrefixedSHA256.Words {
    (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
  }

  /// The digest in base64 with padding.
  package var base64: String { Base64.encodeToString(bytes) }

  /// The digest in lower-case hexadecimal, as `sha256sum` prints it.
  public var hexadecimal: String { Hexadecimal.encode(bytes) }

  /// Returns `true` if both digests have the same bytes.
  public static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
    left.words == right.words
  }

  /// Hashes the first word, which is enough to distinguish digests.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension SHA256Digest: CustomStringConvertible {
  /// The digest in base64, as entries, checkpoints and proofs state it.
  public var description: String { base64 }
}
