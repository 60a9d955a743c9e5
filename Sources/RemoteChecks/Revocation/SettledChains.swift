// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import ReceiptVerification
internal import Synchronization

/// Chains of which every certificate is known to be good until some instant: what makes all receipts of a
/// signer but the first cost next to nothing.
///
/// A verifier gives out the same array for every receipt of a signer, so that comparing arrays mostly ends at
/// finding that they are one and the same.
final class SettledChains: Sendable {
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

  /// Whether the chains of a receipt and of its parts are settled.
  func cover(_ receipt: VerifiedReceipt, at now: Double) -> Bool {
    state.withLock { state in
      guard Self.cover(receipt.signer.certificates, state.entries, now) else { return false }
      for index in receipt.nested.indices {
        guard Self.cover(receipt.nested[index].signer.certificates, state.entries, now) else { return false }
      }
      return true
    }
  }

  private static func cover(_ certificates: [Certificate], _ entries: [Entry], _ now: Double) -> Bool {
    for entry in entries where entry.certificates == certificates { return now < entry.until }
    return false
  }

  /// The oldest gives way.
  func settle(_ certificates: [Certificate], until: Double) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.entries.removeAll { $0.certificates == certificates }
      if state.entries.count >= Self.capacity { state.entries.removeFirst() }
      state.entries.append(Entry(certificates: certificates, until: until))
    }
  }

  func removeAll() { state.withLock { $0.entries = [] } }

  /// Nothing is settled any more, and nothing will be.
  func close() { state.withLock { $0 = State(isClosed: true) } }
}
