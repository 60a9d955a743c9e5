// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The bytes of a receipt that determine its signer; the cache key of a signer. The parts are compared one by one, so
/// that bytes cannot shift from one part to the next.
struct SignerCacheKey: Sendable {
  // Three slices instead of an array, which would be allocated for each receipt.
  private let first: ArraySlice<UInt8>
  private let second: ArraySlice<UInt8>
  private let third: ArraySlice<UInt8>

  init(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8> = [], _ third: ArraySlice<UInt8> = []) {
    (self.first, self.second, self.third) = (first, second, third)
  }

  /// The total length of all parts, in bytes.
  var byteCount: Int { first.count + second.count + third.count }

  /// Returns the same key with copied bytes, so that keeping the key does not keep the receipt.
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

  /// Hashes the last 64 bytes of each part, because keys of different signers tend to share a prefix.
  func hash(into hasher: inout Hasher) {
    for part in [first, second, third] {
      hasher.combine(part.count)
      for byte in part.suffix(64) { hasher.combine(byte) }
    }
  }
}
