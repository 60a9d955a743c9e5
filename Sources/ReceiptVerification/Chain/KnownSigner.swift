// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import Synchronization

#if THREAD_SANITIZER
  internal import ThreadSanitizing
#endif

/// A signer whose chain was found good, with what makes the next of its receipts cheap.
final class KnownSigner: Sendable {
  /// The bytes of a receipt that name the signer.
  let carrier: [UInt8]
  let chains: [SigningChain]
  /// For a JWS: the digest of the encoded header and the dot after it, with which every signed message of this
  /// signer begins.
  let messageBeginning: PrefixDigest?

  private enum Table {
    case none
    case building
    case built(FixedKeyVerifier)
  }

  private let table = Mutex<Table>(.none)
  private let validSignatureCount = Atomic<Int>(0)

  /// Valid signatures after which a table of the key's multiples has repaid what it costs: some 16 ms, against
  /// some 25 µs saved each time. Only proven keys get this far, so that nobody else can have tables built.
  static let signaturesThatRepayTable = 640

  init(carrier: [UInt8], chains: [SigningChain], messageBeginning: PrefixDigest? = nil) {
    self.carrier = carrier
    self.chains = chains
    self.messageBeginning = messageBeginning
  }

  /// The table of the key's multiples, once it is built.
  var fixedKeyVerifier: FixedKeyVerifier? {
    table.withLock { table in
      if case .built(let verifier) = table { verifier } else { nil }
    }
  }

  /// Counts valid signatures. When they are enough, the table is built beside what goes on, so that no receipt
  /// waits for it.
  func countValidSignatures(_ count: Int = 1) {
    let (before, after) = validSignatureCount.add(count, ordering: .relaxed)
    guard before < Self.signaturesThatRepayTable, after >= Self.signaturesThatRepayTable else { return }
    Task.detached(priority: .utility) { self.buildTable() }
  }

  /// Builds the table now, unless it is there or being built.
  func buildTable() {
    let isMine = table.withLock { table in
      guard case .none = table else { return false }
      table = .building
      return true
    }
    guard isMine, messageBeginning != nil, let key = chains.first?.publicKey else { return }
    guard let verifier = FixedKeyVerifier(key) else { return }
    table.withLock { $0 = .built(verifier) }
  }
}
