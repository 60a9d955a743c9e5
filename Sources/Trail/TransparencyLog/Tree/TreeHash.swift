// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// A hash of a Merkle tree (RFC 6962 section 2.1).
///
///     MTH({})             = SHA-256()
///     MTH({d(0)})         = SHA-256(0x00 || d(0))                          leaf
///     MTH(D[0:n]), n > 1  = SHA-256(0x01 || MTH(D[0:k]) || MTH(D[k:n]))    node
///
/// k is the largest power of two below n.
public typealias TreeHash = SHA256Digest

extension SHA256Digest {
  /// The root of the tree without entries: SHA-256 of nothing.
  public static let empty = SHA256Digest(of: [])

  /// The hash of a leaf: SHA-256 of the byte 0x00 and the entry.
  public static func leaf(_ entry: Span<UInt8>) -> TreeHash {
    TreeHash(inMemory: PrefixedSHA256.hash(prefix: 0, entry))
  }

  /// The hash of a leaf: SHA-256 of the byte 0x00 and the entry.
  public static func leaf(_ entry: [UInt8]) -> TreeHash { leaf(entry.span) }

  /// The hash of a node: SHA-256 of the byte 0x01 and the hashes of its children.
  public static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
    TreeHash(inMemory: PrefixedSHA256.hash(prefix: 1, left.inMemory, right.inMemory))
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

  /// Reads the consecutive hashes in `bytes`, and ignores an incomplete hash at the end.
  package static func hashes(in bytes: Span<UInt8>) -> [TreeHash] {
    let raw = unsafe bytes.bytes
    var hashes: [TreeHash] = []
    hashes.reserveCapacity(bytes.count / byteCount)
    for start in stride(from: 0, through: bytes.count - byteCount, by: byteCount) {
      func word(_ number: Int) -> UInt64 {
        unsafe raw.unsafeLoadUnaligned(fromByteOffset: start + 8 * number, as: UInt64.self)
      }
      hashes.append(TreeHash(inMemory: (word(0), word(1), word(2), word(3))))
    }
    return hashes
  }

  /// Reads the consecutive hashes in `bytes`, and ignores an incomplete hash at the end.
  package static func hashes(in bytes: [UInt8]) -> [TreeHash] { hashes(in: bytes.span) }
}
