// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The bytes of a receipt that determine its signer: by them the cache finds a signer that it has met before.
///
/// The parts are compared one by one, so that nothing can move from one part to the next.
struct SignerCacheKey: Sendable {
  private let parts: [ArraySlice<UInt8>]

  init(_ parts: ArraySlice<UInt8>...) { self.parts = parts }

  private init(parts: [ArraySlice<UInt8>]) { self.parts = parts }

  /// The length of all parts together, in bytes.
  var byteCount: Int { parts.reduce(0) { $0 + $1.count } }

  /// The same key in memory of its own, so that keeping it does not keep the receipt.
  func detached() -> SignerCacheKey { SignerCacheKey(parts: parts.map { Array($0)[...] }) }
}

extension SignerCacheKey: Hashable {
  static func == (left: SignerCacheKey, right: SignerCacheKey) -> Bool {
    guard left.parts.count == right.parts.count else { return false }
    for index in left.parts.indices {
      let (leftPart, rightPart) = (left.parts[index], right.parts[index])
      guard ByteSearch.isEqual(leftPart.span, rightPart.span) else { return false }
    }
    return true
  }

  /// Hashes the last bytes: keys of different signers tend to begin alike.
  func hash(into hasher: inout Hasher) {
    for part in parts {
      hasher.combine(part.count)
      for byte in part.suffix(64) { hasher.combine(byte) }
    }
  }
}
