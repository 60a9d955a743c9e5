// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if THREAD_SANITIZER
  internal import ThreadSanitizing

  typealias Mutex = SanitizedMutex
#endif

/// Remembers authenticated signers by the very bytes that name them, so that their certificates are parsed and
/// checked once and not for each receipt.
///
/// A signer enters after a receipt of it passed the policy, and only where the receipt embeds no certificate beside
/// those of its path: hostile receipts, which can add unsigned certificates to a genuine one without end, can neither
/// fill the memory nor push out a genuine signer. Each format has room of its own; the least recently used signer
/// gives way. What is kept says nothing about time, which is evaluated for every receipt.
final class SignerCache: Sendable {
  /// Signers of one format; real stores have a handful at a time.
  static let capacity = 64

  /// The longest key that is kept, in bytes; genuine ones have about 5,000.
  static let maximumKeyByteCount = 16_384

  /// For each format the signers, most recently used first.
  private let signers = Mutex<[[KnownSigner]]>(
    [[KnownSigner]](repeating: [], count: ReceiptFormat.allCases.count))

  /// The signer that these bytes named before.
  func signer(for key: SignerCacheKey, of format: ReceiptFormat) -> KnownSigner? {
    // Compared outside the lock, so that many threads do not wait for each other.
    let known = signers.withLock { $0[format.rawValue] }
    guard let index = known.firstIndex(where: { $0.cacheKey == key }) else { return nil }
    if index > 0 { moveToFront(known[index], of: format) }
    return known[index]
  }

  /// Remembers a signer of a receipt that passed the policy.
  func insert(_ signer: KnownSigner, of format: ReceiptFormat) {
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

  /// The signers that are kept.
  var all: [KnownSigner] { signers.withLock { $0.flatMap { $0 } } }

  private func moveToFront(_ signer: KnownSigner, of format: ReceiptFormat) {
    signers.withLock { signers in
      guard let index = signers[format.rawValue].firstIndex(where: { $0 === signer }), index > 0 else {
        return
      }
      signers[format.rawValue].remove(at: index)
      signers[format.rawValue].insert(signer, at: 0)
    }
  }
}
