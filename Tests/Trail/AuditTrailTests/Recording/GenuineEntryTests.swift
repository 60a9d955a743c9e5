// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing

/// The entries that are recorded for receipts that the App Store signed. The receipts are not part of this repository:
/// the environment variable `RECEIPTKIT_SHARED` names the folder that has them under `receipts`, by default
/// `../shared`.
@Suite struct GenuineEntryTests {
  static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["RECEIPTKIT_SHARED"] {
      return URL(fileURLWithPath: path).appendingPathComponent("receipts")
    }
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { root.deleteLastPathComponent() }
    return root.deletingLastPathComponent().appendingPathComponent("shared/receipts")
  }()

  static let files: [String] = {
    let kinds = ["jws", "app-receipt", "transaction-receipt"]
    let files = kinds.flatMap { kind in
      ((try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(kind).path)) ?? [])
        .sorted().map { "\(kind)/\($0)" }
    }
    if files.isEmpty {
      FileHandle.standardError.write(
        Data("SKIPPED: no genuine receipts at \(folder.path); set RECEIPTKIT_SHARED.\n".utf8))
    }
    return files
  }()

  static let intermediates: [Certificate] = {
    let trust = folder.appendingPathComponent("trust")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: trust.path)) ?? []
    return files.filter { $0.hasSuffix(".cer") }.compactMap { file in
      (try? Data(contentsOf: trust.appendingPathComponent(file)))
        .flatMap { try? Certificate.certificates(in: [UInt8]($0)).first }
    }
  }()

  @Test(
    .enabled(
      if: !GenuineEntryTests.files.isEmpty, "no genuine receipts at hand: set RECEIPTKIT_SHARED"))
  func theEntriesOfGenuineReceiptsAreSmall() async throws {
    let policy = VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox])
    let verifier = ReceiptVerifier(trust: .apple, policy: policy, intermediates: Self.intermediates)
    var longest = 0
    var validCount = 0
    for file in Self.files {
      let bytes = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent(file)))
      let verdict = verifier.verify(bytes)
      if case .valid = verdict { validCount += 1 }
      let records = [AuditRecord](
        verdict, receipt: bytes, policy: policy, at: Timestamp(secondsSince1970: 1_800_000_000))
      for record in records {
        var facts = record.facts
        facts.checks = [RecordedCheck(name: "app-store", answer: .confirmed)]
        let entry = AuditEntry(facts, previous: 9_999_999, commitment: SHA256Digest(of: bytes))
        let encoded = try entry.encoded()
        #expect(try AuditEntry(parsing: encoded) == entry)
        longest = max(longest, encoded.count)
      }
      if verdict.signatureVerified == nil {
        #expect(records.count == 1 && records[0].transaction == nil && records[0].product == nil)
      }
    }
    #expect(validCount > 0)
    #expect(longest < 800)
    print("The longest of the entries of \(Self.files.count) genuine receipts has \(longest) bytes.")
  }
}
