// SPDX-License-Identifier: Apache-2.0

internal import CommandOutput
internal import Locking
internal import PolicyDocuments
internal import ReceiptSigning
internal import ReceiptVerification

/// The verifiers and signers that the process has. A handle is the number of one, so that a number that was freed is noticed,
/// and one that is freed while a call uses it lives until the call ends.
enum Handles {
  enum Object: Sendable {
    case verifier(ReceiptVerifier)
    case signer(ReceiptSigner)
  }

  private struct State {
    var objects: [UInt64: Object] = [:]
    var last: UInt64 = 0
  }

  private static let state = PosixMutex(State())

  static func add(_ object: Object) -> UInt64 {
    state.withLock { state in
      state.last += 1
      state.objects[state.last] = object
      return state.last
    }
  }

  static func remove(_ handle: UInt64) throws(DocumentError) {
    // What it held is released outside the lock.
    guard state.withLock({ $0.objects.removeValue(forKey: handle) }) != nil else { throw unknown(handle) }
  }

  static func verifier(_ handle: UInt64) throws(DocumentError) -> ReceiptVerifier {
    switch state.withLock({ $0.objects[handle] }) {
    case .verifier(let verifier): return verifier
    case .signer: throw DocumentError(.usage, "The handle \(handle) is that of a signer, not of a verifier.")
    case nil: throw unknown(handle)
    }
  }

  static func signer(_ handle: UInt64) throws(DocumentError) -> ReceiptSigner {
    switch state.withLock({ $0.objects[handle] }) {
    case .signer(let signer): return signer
    case .verifier:
      throw DocumentError(.usage, "The handle \(handle) is that of a verifier, not of a signer.")
    case nil: throw unknown(handle)
    }
  }

  private static func unknown(_ handle: UInt64) -> DocumentError {
    DocumentError(.usage, "There is no verifier or signer \(handle): it was freed, or never created.")
  }
}
