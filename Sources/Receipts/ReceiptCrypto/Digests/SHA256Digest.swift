// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// 32 bytes of SHA-256, inline, so that a digest costs no allocation.
public struct SHA256Digest: Sendable, Hashable {
  /// The length, in bytes.
  public static let byteCount = 32

  /// The bytes in order, eight in each word, the first one highest.
  @usableFromInline package let words: (UInt64, UInt64, UInt64, UInt64)

  @inlinable
  package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  /// The digest that these bytes are; `nil` unless they are exactly 32.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount, let words = PrefixedSHA256.words(of: bytes) else { return nil }
    self.init(inMemory: words)
  }

  /// The digest that 64 hexadecimal digits spell; `nil` for any other text.
  public init?(hexadecimal text: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(text) else { return nil }
    self.init(bytes)
  }

  /// The digest that base64 spells, in the one way that there is (RFC 4648 section 4); `nil` for any other text.
  public init?(base64 text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard let digest = SHA256Digest(base64: bytes.span, at: 0), bytes.count == Self.base64Count else {
      return nil
    }
    self = digest
  }

  /// The digest of `bytes`.
  public init(of bytes: [UInt8]) { self.init(of: bytes.span) }

  /// The digest of `bytes`.
  package init(of bytes: Span<UInt8>) { self.init(inMemory: PrefixedSHA256.hash(prefix: nil, bytes)) }

  init(inMemory words: PrefixedSHA256.Words) {
    self.init(
      words: (
        UInt64(bigEndian: words.0), UInt64(bigEndian: words.1), UInt64(bigEndian: words.2),
        UInt64(bigEndian: words.3)
      ))
  }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    append(to: &bytes)
    return bytes
  }

  /// Appends the 32 bytes.
  package func append(to bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: inMemory) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Runs `body` with the 32 bytes.
  package func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    unsafe withUnsafeBytes(of: inMemory) { bytes in
      unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe body($0.span) }
    }
  }

  private var inMemory: PrefixedSHA256.Words {
    (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
  }

  /// Lower-case hexadecimal digits, as `sha256sum` prints them.
  public var hexadecimal: String { Hexadecimal.encode(bytes) }

  /// Indicates whether the bytes are the same.
  public static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
    left.words == right.words
  }

  /// Hashes the first words: any of them tells digests apart.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
