// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// A hash of a Merkle tree (RFC 6962 section 2.1): 32 bytes of SHA-256.
///
///     MTH({})             = SHA-256()
///     MTH({d(0)})         = SHA-256(0x00 || d(0))                          leaf
///     MTH(D[0:n]), n > 1  = SHA-256(0x01 || MTH(D[0:k]) || MTH(D[k:n]))    node
///
/// k is the largest power of two below n.
public struct TreeHash: Sendable, Hashable {
  /// The length of a hash, in bytes.
  package static let byteCount = 32

  /// The root of the tree without entries: SHA-256 of nothing.
  package static let empty = sha256([])

  // The bytes in memory order, stored inline so that a hash needs no allocation.
  private var first: UInt64
  private var second: UInt64
  private var third: UInt64
  private var fourth: UInt64

  /// Creates a hash from 32 bytes; `nil` for any other number of bytes.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount, let words = PrefixedSHA256.words(of: bytes) else { return nil }
    self.init(words)
  }

  /// Creates a hash from 32 bytes in base64 (RFC 4648 section 4); `nil` for anything but the canonical encoding.
  public init?(base64: String) {
    self.init(base64: Array(base64.utf8)[...])
  }

  init?(base64: ArraySlice<UInt8>) {
    guard base64.count == 44, let bytes = try? Base64.decode(base64) else { return nil }
    self.init(bytes)
  }

  /// Reads the consecutive hashes in `bytes`, and ignores an incomplete hash at the end.
  package static func hashes(in bytes: Span<UInt8>) -> [TreeHash] {
    let raw = unsafe bytes.bytes
    var hashes: [TreeHash] = []
    hashes.reserveCapacity(bytes.count / byteCount)
    for start in stride(from: 0, through: bytes.count - byteCount, by: byteCount) {
      func word(_ number: Int) -> UInt64 {
        unsafe raw.unsafeLoadUnaligned(fromByteOffset: start + 8 * number, as: UInt64.self)
      }
      hashes.append(TreeHash((word(0), word(1), word(2), word(3))))
    }
    return hashes
  }

  /// Reads the consecutive hashes in `bytes`, and ignores an incomplete hash at the end.
  package static func hashes(in bytes: [UInt8]) -> [TreeHash] { hashes(in: bytes.span) }

  private init(_ words: PrefixedSHA256.Words) { (first, second, third, fourth) = words }

  private var words: PrefixedSHA256.Words { (first, second, third, fourth) }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    append(to: &bytes)
    return bytes
  }

  /// Appends the 32 bytes to `bytes`.
  package func append(to bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: words) { unsafe bytes.append(contentsOf: $0) }
  }

  /// The bytes in base64 (RFC 4648 section 4), padded: 44 characters.
  public var base64: String { Base64.encodeToString(bytes) }

  /// The bytes in lower-case hexadecimal: 64 characters.
  package var hexadecimal: String { Hexadecimal.encode(bytes) }
}

extension TreeHash {
  /// The hash of a leaf: SHA-256 of the byte 0x00 and the entry.
  public static func leaf(_ entry: Span<UInt8>) -> TreeHash {
    TreeHash(PrefixedSHA256.hash(prefix: 0, entry))
  }

  /// The hash of a leaf: SHA-256 of the byte 0x00 and the entry.
  public static func leaf(_ entry: [UInt8]) -> TreeHash { leaf(entry.span) }

  /// The hash of a node: SHA-256 of the byte 0x01 and the hashes of its children.
  public static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
    TreeHash(PrefixedSHA256.hash(prefix: 1, left.words, right.words))
  }

  /// The root of a complete subtree; the number of `hashes` must be a power of two.
  package static func root(ofComplete hashes: ArraySlice<TreeHash>) -> TreeHash {
    guard let first = hashes.first else { return empty }
    if hashes.count == 1 { return first }
    var row = Array(hashes)
    var count = row.count
    while count > 1 {
      count /= 2
      for index in 0..<count { row[index] = node(row[2 * index], row[2 * index + 1]) }
    }
    return row[0]
  }

  /// The SHA-256 of `bytes`, without a prefix.
  package static func sha256(_ bytes: [UInt8]) -> TreeHash {
    TreeHash(PrefixedSHA256.hash(prefix: nil, bytes.span))
  }
}

extension TreeHash: CustomStringConvertible {
  /// The bytes in base64, as checkpoints and proofs write them.
  public var description: String { base64 }
}
