// SPDX-License-Identifier: Apache-2.0

import CAllocationFaults
import Glibc
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import TransparencyLog

/// Lets each of libcrypto's allocations fail in turn, alone or with all after it, while receipts of every kind are
/// verified: a genuine receipt is never invalid, a forged one never valid, and nothing is left allocated. The same for the
/// signatures of OCSP responses, revocation lists and notes.
///
/// usage: allocation-sweep [STRIDE]
///
/// STRIDE looks at every so-manieth allocation only; 1 by default.
@main
struct AllocationSweep {
  /// The amount of work that a verifier has done before.
  enum Mode: String, CaseIterable {
    case cold, warm, table, batch
  }

  let stride: Int
  let receipts: [(kind: ReceiptKind, genuine: [UInt8], forged: [UInt8])]
  var verifications = 0
  var undetermined = 0
  var faults: [String] = []

  static func main() throws {
    guard AllocationFaults_are_installed() == 1 else {
      print("allocation-sweep: libcrypto had allocated before its functions could be replaced")
      exit(70)
    }
    var sweep = try AllocationSweep(stride: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1)
    for mode in Mode.allCases {
      for index in sweep.receipts.indices { try sweep.run(mode, index) }
    }
    for question in try SignedStatement.all() { sweep.run(question) }
    print(
      "\(sweep.verifications) verifications, \(sweep.undetermined) undetermined, \(sweep.faults.count) faults"
    )
    for fault in sweep.faults.prefix(40) { print(fault) }
    exit(sweep.faults.isEmpty && sweep.undetermined > 0 ? 0 : 1)
  }

  init(stride: Int) throws {
    self.stride = max(1, stride)
    let receipts = try TestReceipts()
    let genuine: [(ReceiptKind, [UInt8])] = [
      (.signedTransaction, Array(try receipts.signedTransaction().utf8)),
      (.signedNotification, Array(try receipts.signedNotification().utf8)),
      (.appReceipt, try receipts.appReceipt()),
      (.transactionReceipt, try receipts.transactionReceipt(version: .four)),
      (.transactionReceipt, try receipts.transactionReceipt(version: .three)),
      (.googlePlayPurchase, try receipts.googlePlayPurchase()),
      (.huaweiPurchase, try receipts.huaweiPurchase(usesPSS: true)),
    ]
    self.receipts = genuine.map { ($0, $1, Self.forged($1, kind: $0)) }
  }

  /// The receipt with a change in what is signed.
  private static func forged(_ receipt: [UInt8], kind: ReceiptKind) -> [UInt8] {
    var forged = receipt
    switch kind {
    case .appReceipt:
      let name = Array(SampleReceipts.bundleId.utf8)
      for start in receipt.indices.dropLast(name.count)
      where Array(receipt[start..<start + name.count]) == name {
        forged[start] ^= 1
        break
      }
    case .transactionReceipt:
      // A letter within the base64 of purchase-info, which begins the same in all receipts.
      let key = Array("purchase-info\" = \"".utf8)
      for start in receipt.indices.dropLast(key.count) where Array(receipt[start..<start + key.count]) == key
      {
        forged[start + key.count + 60] ^= 1
        break
      }
    case .googlePlayPurchase, .googlePlayLicense, .huaweiPurchase:
      let name = Array(SampleReceipts.bundleId.utf8)
      for start in receipt.indices.dropLast(name.count)
      where Array(receipt[start..<start + name.count]) == name && receipt[start + name.count] != 0x5C {
        forged[start + name.count + 1] ^= 1
        break
      }
    default:
      // The last letter but two of the signature.
      let index = receipt.count - 3
      forged[index] = receipt[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    }
    return forged
  }

  private func verifier() throws -> ReceiptVerifier {
    var policy = VerificationPolicy(
      bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox, .production])
    policy.appKeys = try TestReceipts.appKeys()
    return ReceiptVerifier(
      trust: try TestAuthority.es256().trustAnchors.union(try TestAuthority.rsa().trustAnchors),
      policy: policy,
      intermediates: [try TestAuthority.rsa().intermediate],
      clock: FixedClock(SampleReceipts.signedAt.addingSeconds(10)).reading)
  }

  private mutating func run(_ mode: Mode, _ index: Int) throws {
    let (kind, genuine, forged) = receipts[index]
    guard mode != .table || kind == .signedTransaction || kind == .signedNotification else { return }
    var warm = try verifier()
    if mode != .cold {
      for _ in 0..<(mode == .warm ? 1 : 1_000) { _ = warm.verify(genuine) }
      if mode != .warm { usleep(400_000) }
    }
    guard warm.verify(genuine).receipt != nil || mode == .cold else {
      return faults.append("\(mode) \(kind): the sample is not valid")
    }
    guard warm.verify(forged).receipt == nil else {
      return faults.append("\(mode) \(kind): the forgery is valid")
    }

    for receipt in [genuine, forged] {
      let isGenuine = receipt == genuine
      let together = mode == .batch ? [receipt, receipt, receipt] : [receipt]
      for forever: Int32 in [0, 1] {
        var before = AllocationFaults_live()
        var number = 1
        var growth = 0
        while true {
          if mode == .cold { warm = try verifier() }
          AllocationFaults_begin(number, forever)
          let verdicts = warm.verifyTogether(together[...])
          let count = AllocationFaults_end()
          for verdict in verdicts {
            check(verdict, isGenuine: isGenuine, "\(mode) \(kind) \(number) \(forever)")
          }
          if mode == .cold { warm = try verifier() }
          let live = AllocationFaults_live()
          // libcrypto sets up some memory once and keeps it. Memory that grows with every failure is a leak.
          if live > before { growth += 1 }
          before = live
          if count < number { break }
          number += stride
        }
        if growth > max(8, number / stride / 10) {
          faults.append("\(mode) \(kind): allocations left by \(growth) of \(number / stride) verifications")
        }
        guard warm.verify(genuine).receipt != nil else {
          faults.append("\(mode) \(kind): no longer valid once memory is back")
          break
        }
      }
    }
  }

  private mutating func check(_ verdict: Verdict, isGenuine: Bool, _ place: String) {
    verifications += 1
    switch verdict {
    case .valid: if !isGenuine { faults.append("\(place): a forged receipt is valid") }
    case .invalid(let invalid):
      if isGenuine { faults.append("\(place): a genuine receipt is invalid: \(invalid.reason)") }
    case .undetermined(let receipt):
      undetermined += 1
      if !receipt.isRetryable || receipt.reason.code != .internalFault {
        faults.append("\(place): undetermined for another reason: \(receipt.reason)")
      }
    }
  }

  private mutating func run(_ statement: SignedStatement) {
    guard statement.ask(false) == .accepted, statement.ask(true) == .refused else {
      return faults.append("\(statement.name): the sample is refused, or the forgery is not")
    }
    for isForged in [false, true] {
      for forever: Int32 in [0, 1] {
        var number = 1
        while true {
          AllocationFaults_begin(number, forever)
          let outcome = statement.ask(isForged)
          let count = AllocationFaults_end()
          verifications += 1
          switch outcome {
          case .accepted: if isForged { faults.append("\(statement.name) \(number): a forgery is accepted") }
          case .refused: if !isForged { faults.append("\(statement.name) \(number): refused though genuine") }
          case .undetermined: undetermined += 1
          }
          if count < number { break }
          number += 1
        }
      }
    }
  }
}

/// A statement that a responder, an issuer or a log has signed.
private struct SignedStatement {
  enum Outcome {
    case accepted, refused, undetermined
  }

  let name: String
  /// Verifies it, or a forgery of it.
  let ask: (_ isForged: Bool) -> Outcome

  private init(_ name: String, ask: @escaping (_ isForged: Bool) -> Outcome) {
    self.name = name
    self.ask = ask
  }

  /// - Parameters:
  ///   - name: What it is, for a fault that is found.
  ///   - genuine: The statement, whose last byte is within the signature.
  ///   - isRefusal: Whether an error says that the statement is not to be believed.
  ///   - verify: Verifies it.
  private init<Failure: Error>(
    _ name: String, _ genuine: [UInt8], isRefusal: @escaping (Failure) -> Bool,
    verify: @escaping ([UInt8]) throws(Failure) -> Void
  ) {
    self.name = name
    let forged = Array(genuine.dropLast()) + [(genuine.last ?? 0) ^ 1]
    ask = { isForged in
      do throws(Failure) { try verify(isForged ? forged : genuine) } catch {
        return isRefusal(error) ? .refused : .undetermined
      }
      return .accepted
    }
  }

  static func all() throws -> [SignedStatement] {
    let now: Int64 = 1_759_302_552
    let hour: Int64 = 3600
    func issue(
      _ name: String, _ key: PrivateKey, by issuer: CertificateIssuer,
      _ constraints: CertificateTemplate.BasicConstraints
    ) throws -> Certificate {
      var template = CertificateTemplate(
        subject: DistinguishedName(commonName: name), notBefore: now - hour, notAfter: now + hour)
      template.basicConstraints = constraints
      return try Certificate.issue(template, for: key.publicKey, by: issuer)
    }
    let keys = try [PrivateKey.generateP256(), PrivateKey.generateRSA(bits: 2048)]
    var statements: [SignedStatement] = []
    for (key, kind) in zip(keys, ["ECDSA", "RSA"]) {
      let issuer = try issue("Sweep Issuer", key, by: .itself(key), .certificateAuthority(pathLength: nil))
      let leaf = try issue("Sweep Leaf", key, by: .authority(issuer, key), .endEntity)
      let answer = OCSPResponseTemplate.Answer(
        leaf, issuer: issuer, .good, thisUpdate: now - hour, nextUpdate: now + hour)
      statements.append(
        SignedStatement(
          "an OCSP response, \(kind)", try OCSPResponseTemplate([answer], signer: issuer, key: key).sign(),
          isRefusal: { (error: OCSPError) in error.code != .internalFailure }
        ) { der throws(OCSPError) in
          _ = try OCSPResponse(der: der).status(of: leaf, issuer: issuer, at: now)
        })
      let list = RevocationListTemplate(thisUpdate: now - hour, nextUpdate: now + hour)
      statements.append(
        SignedStatement(
          "a revocation list, \(kind)", try list.sign(issuer: issuer, key: key),
          isRefusal: { (error: RevocationListError) in error.code != .internalFailure }
        ) { der throws(RevocationListError) in
          _ = try CertificateRevocationList(der: der).status(of: leaf, issuer: issuer, at: now)
        })
    }
    let signer = try NoteSignerKey.generate(name: "example.com/sweep")
    let note = try SignedNote.sign(Array("a note\n".utf8), by: [signer])
    let forged = try SignedNote(
      parsing: Array("another note\n".utf8) + note.encoded.dropFirst("a note\n".utf8.count))
    statements.append(
      SignedStatement(
        "a note", [0], isRefusal: { (error: NoteError) in error.code != .internalFailure }
      ) { bytes throws(NoteError) in
        _ = try (bytes == [0] ? note : forged).verified(by: [signer.verifierKey])
      })
    return statements + [try cosignature(of: signer), try request(signer)]
  }

  /// A cosignature that a witness gave, as a log looks for it among the lines of its checkpoint.
  private static func cosignature(of log: NoteSignerKey) throws -> SignedStatement {
    let witness = try NoteSignerKey.generate(name: "example.com/sweep-witness")
    let checkpoint = try Checkpoint(origin: log.verifierKey.name, size: 0, root: .empty)
    let genuine = try checkpoint.signed(by: log).adding([checkpoint.cosigned(by: witness, timestamp: 1)])
    let other = try Checkpoint(origin: log.verifierKey.name, size: 1, root: .empty)
    let forged = try checkpoint.signed(by: log).adding([other.cosigned(by: witness, timestamp: 1)])
    let lines = CosignatureLines(keys: [witness.cosignatureVerifierKey])
    return SignedStatement("a cosignature") { isForged in
      do throws(NoteError) {
        return try lines.cosigners(of: isForged ? forged : genuine).isEmpty ? .refused : .accepted
      } catch { return error.code == .internalFailure ? .undetermined : .refused }
    }
  }

  /// A request for a cosignature, as a witness decides on it.
  private static func request(_ log: NoteSignerKey) throws -> SignedStatement {
    let witness = try NoteSignerKey.generate(name: "example.com/sweep-witness")
    let checkpoint = try Checkpoint(origin: log.verifierKey.name, size: 0, root: .empty)
    let other = try Checkpoint(origin: log.verifierKey.name, size: 1, root: .empty)
    // A stranger's line that bears the log's key identifier.
    let requests = try [checkpoint, other].map {
      try AddCheckpointRequest(
        oldSize: 0, consistencyProof: [],
        checkpoint: CosignatureLines.checkpoint(checkpoint, $0.signed(by: log).note.signatures))
    }
    let rules = WitnessRules(key: witness, logs: [log.verifierKey])
    return SignedStatement("a request for a cosignature") { isForged in
      switch try? rules.decide(requests[isForged ? 1 : 0], latest: nil, at: 1) {
      case .cosign: .accepted
      case .refuse: .refused
      case nil: .undetermined
      }
    }
  }
}
