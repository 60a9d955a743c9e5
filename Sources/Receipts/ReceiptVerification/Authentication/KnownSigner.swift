// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import Synchronization

/// A signer whose paths were found good, with what makes the next of its receipts cheap.
final class KnownSigner: Sendable {
  /// The bytes of a receipt that name the signer, in memory of their own.
  let cacheKey: SignerCacheKey
  /// The paths that make the signer's key trusted: never none. Paths of certificates have all the same leaf; keys that
  /// the policy names have one each.
  let paths: [SigningPath]
  /// Whether all paths have one key, so that a signature proves all of them.
  let hasOneKey: Bool
  /// Whether every certificate that the receipt embeds is on one of the paths, once.
  let isCacheable: Bool
  /// The digest of the bytes with which every signed message of this signer begins, where there are such.
  let prefixDigest: PrefixDigest?

  // Read for every receipt, by all threads: without a lock.
  private let table = AtomicLazyReference<FixedKeyVerifier>()
  private let isTableBegun = Atomic<Bool>(false)
  private let wasCached = Atomic<Bool>(false)
  private let validSignatureCount = Atomic<Int>(0)

  /// Valid signatures after which a table of the key's multiples has repaid what it costs: some 16 ms, against
  /// some 25 µs saved each time. Only authenticated keys get this far, so that nobody else can have tables built.
  static let signaturesThatRepayTable = 640

  init(cacheKey: SignerCacheKey, paths: [SigningPath], isCacheable: Bool, prefixDigest: PrefixDigest?) {
    self.cacheKey = cacheKey
    self.paths = paths
    hasOneKey = paths.count < 2 || !paths[0].certificates.isEmpty
    self.isCacheable = isCacheable
    self.prefixDigest = prefixDigest
  }

  /// Whether the cache was given it, so that it need not be given it with every receipt.
  var isCached: Bool {
    get { wasCached.load(ordering: .relaxed) }
    set { wasCached.store(newValue, ordering: .relaxed) }
  }

  /// The table of the key's multiples, once it is built.
  var fixedKeyVerifier: FixedKeyVerifier? { table.load() }

  /// Counts a valid signature. When they are enough, the table is built in the background, so that no receipt waits
  /// for it.
  func countValidSignature() {
    let (before, after) = validSignatureCount.add(1, ordering: .relaxed)
    guard before < Self.signaturesThatRepayTable, after >= Self.signaturesThatRepayTable else { return }
    Task.detached(priority: .utility) { self.buildTable() }
  }

  /// Builds the table now, unless it is there or being built.
  func buildTable() {
    guard prefixDigest != nil, let key = paths.first?.publicKey,
      !isTableBegun.exchange(true, ordering: .relaxed), let verifier = FixedKeyVerifier(key)
    else { return }
    _ = table.storeIfNil(verifier)
  }
}
