// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import RemoteChecks
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Synchronization

/// A signer whose certificates name a responder, receipts of it, and that responder behind a transport.
final class RevocationFixture: Sendable {
  static let url = "http://ocsp.example.com/ocsp03"
  static let listURL = "http://crl.example.com/intermediate.crl"
  static let rootListURL = "http://crl.example.com/root.crl"

  let identity: SigningIdentity
  let time = ManualTime(SampleReceipts.signedAt.addingSeconds(60))
  let verifier: ReceiptVerifier
  /// The transport's answer to every request; `nil` to ask the responder.
  let failure = Mutex<RemoteResponse?>(nil)
  /// The gate that requests wait at before they are answered.
  let gate: Gate
  private let responder: Mutex<TestRevocationResponder>
  private let sent = Mutex<[RemoteRequest]>([])

  var leaf: Certificate { identity.chain[0] }
  var intermediate: Certificate { identity.chain[1] }

  init(ocspURL: String? = url, crlURL: String? = nil, rootCRLURL: String? = nil, isOpen: Bool = true) throws {
    let authority = try TestAuthority.es256()
    identity = try authority.identity(ocspURL: ocspURL, crlURL: crlURL, rootCRLURL: rootCRLURL)
    responder = Mutex(TestRevocationResponder(authority, chain: identity.chain))
    gate = Gate(isOpen: isOpen)
    verifier = ReceiptVerifier(
      trust: authority.trustAnchors,
      policy: VerificationPolicy(bundleIds: .any, environments: [.sandbox]), clock: { [time] in time.now })
  }

  func change(_ body: (inout TestRevocationResponder) -> Void) { responder.withLock { body(&$0) } }

  var requests: [RemoteRequest] { sent.withLock { $0 } }

  var transport: FakeTransport {
    FakeTransport { [self] (request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse in
      sent.withLock { $0.append(request) }
      await gate.pass()
      if Task.isCancelled { throw HTTPTransportError(.cancelled, "cancelled") }
      if let failure = failure.withLock({ $0 }) { return failure }
      let body = try? responder.withLock { responder in
        if request.method == .get {
          return try responder.list(
            of: request.url.path.contains("root") ? identity.chain[2] : intermediate, at: time.now)
        }
        return try responder.response(to: request.body ?? [], at: time.now)
      }
      return RemoteResponse(status: body == nil ? 400 : 200, body: body ?? [])
    }
  }

  func checker(_ change: (inout RevocationOptions) -> Void = { _ in }) -> RevocationChecker {
    var options = RevocationOptions()
    change(&options)
    return RevocationChecker(transport: transport, options: options, time: time.remoteTime)
  }

  func receipt(_ change: (inout JWSTransaction) -> Void = { _ in }) throws -> VerifiedReceipt {
    try verified(receipts.signedTransaction(change))
  }

  func notification() throws -> VerifiedReceipt {
    let receipts = try receipts
    return try verified(
      receipts.signedNotification {
        $0.data?.signedTransactionInfo = try? receipts.signedTransaction()
        $0.data?.signedRenewalInfo = try? receipts.signedRenewalInfo()
      })
  }

  var receipts: TestReceipts {
    get throws { try TestReceipts(jws: identity, rsa: TestAuthority.rsa().identity) }
  }

  func verified(_ jws: String) throws -> VerifiedReceipt {
    guard let receipt = verifier.verify(jws).receipt else { throw NotValid() }
    return receipt
  }

  struct NotValid: Error {}
}

/// Suspends each task that comes while it is closed.
final class Gate: Sendable {
  private struct State {
    var isOpen: Bool
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(isOpen: Bool) { state = Mutex(State(isOpen: isOpen)) }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func close() { state.withLock { $0.isOpen = false } }

  var waitingCount: Int { state.withLock { $0.waiting.count } }
}

/// The notes that a checker reported, from whatever thread.
final class NoteBox: Sendable {
  let notes = Mutex<[RevocationOptions.Note]>([])
}

extension CheckerAnswer {
  static let confirmed = CheckerAnswer.response(CheckerResponse(.confirmed))

  /// The note of a confirmation; `nil` without a note, and for every other answer.
  var note: String? {
    if case .response(let response) = self, response.standing == .confirmed { response.note } else { nil }
  }

  /// The message of a refusal.
  var refusal: String? {
    if case .response(let response) = self, case .refused(let message) = response.standing {
      message
    } else {
      nil
    }
  }

  var retryableMessage: String? {
    if case .retryableFailure(let message) = self { message } else { nil }
  }

  var terminalMessage: String? {
    if case .terminalFailure(let message) = self { message } else { nil }
  }
}

/// Waits until something holds that other tasks bring about.
func eventually(_ condition: () -> Bool) async -> Bool {
  for _ in 0..<10_000 {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return condition()
}
