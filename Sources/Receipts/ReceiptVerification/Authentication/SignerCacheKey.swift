// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The bytes of a receipt that determine its signer: by them the cache finds a signer that it has met before.
///
/// The parts are compared one by one, so that nothing can move from one part to the next.
struct SignerCacheKey: Sendable {
  // Not an array, which each receipt would have to allocate.
  private let first: ArraySlice<UInt8>
  private let second: ArraySlice<UInt8>
  private let third: ArraySlice<UInt8>

  init(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8> = [], _ third: ArraySlice<UInt8> = []) {
    (self.first, self.second, self.third) = (first, second, third)
  }

  /// The length of all parts together, in bytes.
  var byteCount: Int { first.count + second.count + third.count }

  /// The same key in memory of its own, so that keeping it does not keep the receipt.
  func detached() -> SignerCacheKey {
    SignerCacheKey(Array(first)[...], Array(second)[...], Array(third)[...])
  }
}

extension SignerCacheKey: Hashable {
  static func == (left: SignerCacheKey, right: SignerCacheKey) -> Bool {
    ByteSearch.isEqual(left.first.span, right.first.span)
      && ByteSearch.isEqual(left.second.span, right.second.span)
      && ByteSearch.isEqual(left.third.span, right.third.span)
  }

  /// Hashes the last bytes: keys of different signers tend to begin alike.
  func hash(into hasher: inout Hasher) {
    for part in [first, second, third] {
      hasher.combine(part.count)
      for byte in part.suffix(64) { hasher.combine(byte) }
    }
  }
}
