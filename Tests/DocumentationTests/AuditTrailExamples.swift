// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Testing
import TransparencyLog

@Suite(.timeLimit(.minutes(10))) struct AuditTrailExamples {
  private let storage = MemoryStorage()
  private let checkpoints = MemoryCheckpointStore()
  private let signer: NoteSignerKey
  private let verifier: ReceiptVerifier
  private let checkers: [any RemoteChecker] = []
  private let receipt: [UInt8]
  private let created: AuditLog

  init() throws {
    signer = try NoteSignerKey.generate(name: "example.com/verdicts")
    created = try AuditLog.create(
      in: storage, configuration: TrailConfiguration(origin: signer.name), signer: signer,
      checkpoints: checkpoints)
    verifier = ReceiptVerifier(
      trust: try TestAuthority.es256().trustAnchors,
      policy: VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox]))
    let sold = try TestReceipts().signedTransaction {
      $0.type = .consumable
      $0.expiresDate = nil
    }
    receipt = Array(sold.utf8)
  }

  @Test func overview() async throws {
    let key = signer.verifierKey

    let log = try AuditLog.open(storage, verifier: key, signer: signer, checkpoints: checkpoints)
    let verdict = await verifier.verify(receipt, checkers: checkers)
    try await log.append(
      [AuditRecord](verdict, receipt: receipt, policy: verifier.policy, at: SystemClock.now()))

    #expect(try log.withView { $0.size } == 1)
  }

  @Test func recording() async throws {
    let policy = SHA256Digest(of: verifier.policy)
    let verdict = await verifier.verify(receipt, checkers: checkers)
    let records = [AuditRecord](verdict, receipt: receipt, policyDigest: policy, at: SystemClock.now())

    let log = created
    try await log.append(records)

    let found = try log.withView { try $0.entries(receipt: ReceiptDigests(of: receipt)) }

    #expect(found.map(\.entry.facts.kind) == [.verdict])
    #expect(found.map(\.entry.facts.policy) == [policy])
  }

  @Test func granting() async throws {
    let log = created
    let policy = SHA256Digest(of: verifier.policy)
    let account = (id: "alice", name: "Alice")
    var unlocked = 0
    func unlock() { unlocked += 1 }
    var retries = 0
    func retryLater() { retries += 1 }

    for _ in 0..<2 {
      let verdict = await verifier.verify(receipt, checkers: checkers)

      let request = GrantRequest(
        verdict, receipt: receipt, policyDigest: policy, at: SystemClock.now(), rules: [.consumableAgain],
        options: RecordingOptions(customer: account.id))
      let decision = try await log.grant([request])[0]
      if decision.isGranted, verdict.receipt?.standing(at: SystemClock.now())?.grantsAccess == true {
        unlock()
      }
      if case .undetermined(let receipt) = decision.verdict, receipt.isRetryable { retryLater() }
    }

    #expect(unlocked == 1)
    #expect(retries == 0)
  }

  @Test func witnessing() async throws {
    let witness = try NoteSignerKey.generate(name: "witness.example/w1")
    let transport = OneWitness(
      witness: CheckpointWitness(
        key: witness,
        logs: [CheckpointWitness.KnownLog(keys: [signer.verifierKey], checkpoints: MemoryCheckpointStore())]))
    let bytes = Array(
      "witness w1 \(witness.cosignatureVerifierKey) https://witness.example/w1/\nquorum w1\n".utf8)
    let verifier = signer.verifierKey
    let records = [AuditRecord](
      self.verifier.verify(receipt), receipt: receipt, policy: self.verifier.policy, at: SystemClock.now())

    var options = AuditLog.Options()
    options.witnesses = Witnesses(policy: try WitnessPolicy(parsing: bytes), transport: transport)
    let log = try AuditLog.open(
      storage, verifier: verifier, signer: signer, checkpoints: checkpoints, options: options)

    try await log.append(records, acknowledgement: .witnessed)
    let checkpoint = try await log.collectCosignatures()

    #expect(checkpoint.checkpoint.size == 1)
    #expect(checkpoint.cosignatures.count == 1)
  }

  private struct OneWitness: WitnessTransport {
    let witness: CheckpointWitness

    func post(
      _ body: [UInt8], to url: String, timeout: Duration, maximumByteCount: Int
    ) async throws(WitnessTransportError) -> WitnessResponse {
      witness.respond(to: body).response
    }
  }
}
