// SPDX-License-Identifier: Apache-2.0

internal import Locking

/// Caches authenticated signers by the bytes that name them. A cached signer's certificates are parsed and checked
/// once, not for each receipt.
///
/// A signer is inserted after one of its receipts has passed the policy, and only if the signature covers the embedded
/// certificates, as in a JWS, or the receipt embeds no others than those of its path. An attacker can add any number of
/// unsigned certificates to a genuine app receipt; such receipts can neither fill the memory nor evict a genuine signer. Each format has its own entries; the least recently
/// used signer is evicted. A cached result does not depend on time: validity is evaluated for every receipt.
final class KnownSigners: Sendable {
  /// The maximum number of cached signers of one format; real stores have a handful at a time.
  static let capacity = 64

  /// The longest key that is cached, in bytes; genuine keys have about 5,000.
  static let maximumKeyByteCount = 16_384

  /// The signers of each format, most recently used first.
  private let signers = PosixMutex<[[Signer]]>(
    [[Signer]](repeating: [], count: ReceiptFormat.allCases.count))

  /// Returns the signer that is cached under these bytes, or `nil`.
  func lookUp(_ key: SignerCacheKey, of format: ReceiptFormat) -> Signer? {
    // The keys are compared outside the lock, so that threads do not wait for each other.
    let known = signers.withLock { $0[format.rawValue] }
    guard let index = known.firstIndex(where: { $0.cacheKey == key }) else { return nil }
    if index > 0 { moveToFront(known[index], of: format) }
    return known[index]
  }

  /// Caches the signer of a receipt that passed the policy.
  func insert(_ signer: Signer, of format: ReceiptFormat) {
    guard signer.isCacheable, !signer.isCached, signer.cacheKey.byteCount <= Self.maximumKeyByteCount else {
      return
    }
    signer.isCached = true
    signers.withLock { signers in
      if signers[format.rawValue].contains(where: { $0.cacheKey == signer.cacheKey }) { return }
      if signers[format.rawValue].count >= Self.capacity { signers[format.rawValue].removeLast() }
      signers[format.rawValue].insert(signer, at: 0)
    }
  }

  var all: [Signer] { signers.withLock { $0.flatMap { $0 } } }

  private func moveToFront(_ signer: Signer, of format: ReceiptFormat) {
    signers.withLock { signers in
      guard let index = signers[format.rawValue].firstIndex(where: { $0 === signer }), index > 0 else {
        return
      }
      signers[format.rawValue].remove(at: index)
      signers[format.rawValue].insert(signer, at: 0)
    }
  }
}

/// The signers of the receipts that are verified together: those that were known before, and those resolved for them.
struct BatchSigners {
  let known: KnownSigners
  /// The results for signers that are not known, each resolved once because it depends on the cache key alone.
  var resolved: [SignerCacheKey: Result<Signer, ValidationError>] = [:]
}
