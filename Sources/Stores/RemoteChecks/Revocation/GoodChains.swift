// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import ReceiptVerification
internal import Synchronization

/// Chains whose certificates were all found good, each until some instant: they make every receipt of a signer but the
/// first cost next to nothing.
///
/// A verifier gives out the same array for every receipt of a signer, so that comparing two arrays mostly finds that
/// they share their storage.
final class GoodChains: Sendable {
  private struct Entry {
    let certificates: [Certificate]
    let until: Double
  }

  /// Stores have a handful of signers at a time.
  static let capacity = 64

  private struct State {
    var entries: [Entry] = []
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Whether the chains of a receipt and of each of its parts are good at an instant.
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

  /// Adds a chain; the oldest is evicted.
  func insert(_ certificates: [Certificate], until: Double) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.entries.removeAll { $0.certificates == certificates }
      if state.entries.count >= Self.capacity { state.entries.removeFirst() }
      state.entries.append(Entry(certificates: certificates, until: until))
    }
  }

  func removeAll() { state.withLock { $0.entries = [] } }

  /// Removes all chains, and adds none from now on.
  func close() { state.withLock { $0 = State(isClosed: true) } }
}
