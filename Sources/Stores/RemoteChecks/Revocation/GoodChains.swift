// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import ReceiptVerification
internal import Synchronization

/// A cache of certificate chains that were found good, each until an instant. It makes every receipt of a signer except
/// the first nearly free to check. A verifier gives every receipt of a signer the same array, so comparing two arrays
/// usually ends at their shared storage.
final class GoodChains: Sendable {
  private struct Entry {
    let certificates: [Certificate]
    let until: Double
  }

  /// The largest number of chains; stores have a handful of signers at a time.
  static let capacity = 64

  private struct State {
    var entries: [Entry] = []
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Returns `true` if the chains of a receipt and of each of its nested parts are good at an instant.
  func contains(_ receipt: VerifiedReceipt, at now: Double) -> Bool {
    state.withLock { state in
      guard Self.contains(receipt.signer.certificates, state.entries, now) else { return false }
      for index in receipt.nested.indices {
        guard Self.contains(receipt.nested[index].signer.certificates, state.entries, now) else {
          return false
        }
      }
      return true
    }
  }

  private static func contains(_ certificates: [Certificate], _ entries: [Entry], _ now: Double) -> Bool {
    for entry in entries where entry.certificates == certificates { return now < entry.until }
    return false
  }

  /// Adds a chain, and evicts the oldest if the cache is full.
  func insert(_ certificates: [Certificate], until: Double) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.entries.removeAll { $0.certificates == certificates }
      if state.entries.count >= Self.capacity { state.entries.removeFirst() }
      state.entries.append(Entry(certificates: certificates, until: until))
    }
  }

  func removeAll() { state.withLock { $0.entries = [] } }

  /// Removes all chains and ignores later insertions.
  func close() { state.withLock { $0 = State(isClosed: true) } }
}
