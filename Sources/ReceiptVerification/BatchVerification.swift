// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// Many receipts at once: signatures of the same signer share work, and all cores are used.
extension ReceiptVerifier {
  /// Verifies receipts of any mix of kinds, on all cores. A bad receipt costs only itself.
  ///
  /// Beside the verdicts it holds no more than a few dozen parsed receipts a core.
  ///
  /// - Parameter batch: The receipts, each in any wrapping that ``verify(_:)-([UInt8])`` takes.
  /// - Returns: The verdicts, in the order of the receipts.
  /// - Throws: `CancellationError` when the task is cancelled before all are verified.
  public func verify(_ batch: [[UInt8]]) async throws -> [Verdict] {
    let runs = stride(from: 0, to: batch.count, by: Self.receiptsTogether).map {
      $0..<min($0 + Self.receiptsTogether, batch.count)
    }
    var verdicts: [[Verdict]] = Array(repeating: [], count: runs.count)
    try await withThrowingTaskGroup(of: (Int, [Verdict]).self) { group in
      var next = 0
      func startNext() {
        guard next < runs.count else { return }
        let (index, run) = (next, runs[next])
        next += 1
        group.addTask {
          try Task.checkCancellation()
          return (index, verifyTogether(batch[run]))
        }
      }
      for _ in 0..<SystemProcessors.count { startNext() }
      while let (index, run) = try await group.next() {
        verdicts[index] = run
        startNext()
      }
    }
    return verdicts.flatMap { $0 }
  }

  /// Signatures that share one modular inversion: more gain next to nothing and wait longer.
  static var receiptsTogether: Int { 64 }

  /// Verifies receipts on the thread that calls, those of one signer together.
  ///
  /// - Parameter receipts: The receipts; all of them are parsed before the first is verified.
  /// - Returns: The verdicts, in the order of the receipts.
  public func verifyTogether(_ receipts: ArraySlice<[UInt8]>) -> [Verdict] {
    var verdicts = [Verdict?](repeating: nil, count: receipts.count)
    var waiting: [WaitingSignatures] = []
    for (index, bytes) in receipts.enumerated() {
      let receipt: UnverifiedReceipt
      do throws(MalformedReceipt) {
        receipt = try UnverifiedReceipt(parsing: bytes, limits: limits)
      } catch {
        verdicts[index] = refuse(error)
        continue
      }
      if case .jws(let jws) = receipt, wait(for: jws, at: index, in: &waiting) { continue }
      verdicts[index] = verify(receipt)
    }
    for group in waiting { settle(group, in: &verdicts) }
    return verdicts.compactMap { $0 }
  }

  /// The JWS of one signer whose signatures are to be checked together.
  private struct WaitingSignatures {
    let signer: KnownSigner
    let fixedKeyVerifier: FixedKeyVerifier
    var receipts: [(index: Int, jws: UnverifiedJWS)] = []
    var digests: [UInt8] = []
    var signatures: [UInt8] = []
  }

  /// Puts a JWS to the others of its signer, when there is a table of the signer's key.
  private func wait(
    for jws: UnverifiedJWS, at index: Int, in waiting: inout [WaitingSignatures]
  ) -> Bool {
    guard jws.signature.count == Self.es256SignatureLength,
      let signer = knownSigners.signer(carriedBy: jws.compact.span.extracting(jws.encodedHeaderRange)),
      let fixedKeyVerifier = signer.fixedKeyVerifier
    else { return false }
    let position: Int
    if let found = waiting.firstIndex(where: { $0.signer === signer }) {
      position = found
    } else {
      position = waiting.count
      waiting.append(WaitingSignatures(signer: signer, fixedKeyVerifier: fixedKeyVerifier))
    }
    guard appendDigest(of: jws, by: signer, to: &waiting[position].digests) else { return false }
    waiting[position].signatures += jws.signature
    waiting[position].receipts.append((index, jws))
    return true
  }

  private func settle(_ group: WaitingSignatures, in verdicts: inout [Verdict?]) {
    let validities = group.fixedKeyVerifier.validities(
      signatures: group.signatures.span, digests: group.digests.span, count: group.receipts.count)
    for ((index, jws), isValid) in zip(group.receipts, validities) {
      verdicts[index] = verify(
        .jws(jws), checked: CheckedSignature(signer: group.signer, isValid: isValid))
    }
  }
}
