// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
internal import Synchronization

/// A signer with at least one valid path, and the precomputed data that makes its next receipts cheap.
final class Signer: Sendable {
  /// The bytes of a receipt that name the signer, copied out of the receipt.
  let cacheKey: SignerCacheKey
  /// The paths that make the signer's key trusted; never empty. Paths of certificates all have the same leaf. Each key
  /// that the policy names has a path of its own.
  let paths: [SigningPath]
  /// `true` if all paths have the same key, so that one signature proves all of them.
  let hasOneKey: Bool
  /// `true` if nobody but the signer can vary the embedded certificates: the signature covers them, or each is on one of the
  /// paths, once.
  let isCacheable: Bool
  /// The digest of the bytes that every signed message of this signer begins with; `nil` if there are no such bytes.
  let prefixDigest: PrefixDigest?
  private let buildsTableInPlace: Bool

  // All threads read these for every receipt, without a lock.
  private let table = AtomicLazyReference<FixedKeyVerifier>()
  private let isTableBegun = Atomic<Bool>(false)
  private let wasCached = Atomic<Bool>(false)
  private let validSignatureCount = Atomic<Int>(0)

  /// The number of valid signatures after which the table of the key's multiples has repaid its cost. The table takes
  /// about 16 ms to build and saves about 25 µs for each signature. Only authenticated keys are counted, so an attacker
  /// cannot cause tables to be built.
  static let signaturesThatRepayTable = 640

  init(
    cacheKey: SignerCacheKey, paths: [SigningPath], isCacheable: Bool, prefixDigest: PrefixDigest?,
    buildsTableInPlace: Bool
  ) {
    self.buildsTableInPlace = buildsTableInPlace
    self.cacheKey = cacheKey
    self.paths = paths
    hasOneKey = paths.count < 2 || !paths[0].certificates.isEmpty
    self.isCacheable = isCacheable
    self.prefixDigest = prefixDigest
  }

  /// `true` once the signer was passed to the cache, so that it is not passed again with every receipt.
  var isCached: Bool {
    get { wasCached.load(ordering: .relaxed) }
    set { wasCached.store(newValue, ordering: .relaxed) }
  }

  /// The table of the key's multiples; `nil` until it is built.
  var fixedKeyVerifier: FixedKeyVerifier? { table.load() }

  /// Counts a valid signature. When the count reaches ``signaturesThatRepayTable``, the table is built in the
  /// background, so that no receipt waits for it; or at once, by a verifier that may have no thread of its own.
  func countValidSignature() {
    let (before, after) = validSignatureCount.add(1, ordering: .relaxed)
    guard before < Self.signaturesThatRepayTable, after >= Self.signaturesThatRepayTable else { return }
    if buildsTableInPlace {
      buildTable()
    } else {
      Task.detached(priority: .utility) { self.buildTable() }
    }
  }

  /// Builds the table now, unless it exists or is being built.
  func buildTable() {
    guard prefixDigest != nil, let key = paths.first?.publicKey,
      !isTableBegun.exchange(true, ordering: .relaxed), let verifier = FixedKeyVerifier(key)
    else { return }
    _ = table.storeIfNil(verifier)
  }
}

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
