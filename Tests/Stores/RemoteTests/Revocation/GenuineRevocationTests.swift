// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptCrypto
import RemoteChecks
import ReceiptVerification
import Synchronization
import Testing

/// Receipts that the App Store signed. They are not part of this repository: the environment variable
/// `RECEIPTKIT_SHARED` names the folder that has them under `receipts`, by default `../shared`.
@Suite struct GenuineRevocationTests {
  private struct Entry: Decodable {
    let file: String
    let accept: Bool
  }

  private static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["RECEIPTKIT_SHARED"] {
      return URL(fileURLWithPath: path).appendingPathComponent("receipts")
    }
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { root.deleteLastPathComponent() }
    return root.deletingLastPathComponent().appendingPathComponent("shared/receipts")
  }()

  private static let files: [String] = {
    guard let manifest = try? Data(contentsOf: folder.appendingPathComponent("manifest.json")),
      let entries = try? JSONDecoder().decode([Entry].self, from: manifest)
    else {
      FileHandle.standardError.write(
        Data("SKIPPED: no genuine receipts at \(folder.path); set RECEIPTKIT_SHARED.\n".utf8))
      return []
    }
    return entries.filter(\.accept).map(\.file)
  }()

  /// No responder answers: what matters is where requests go.
  private final class NobodyThere: Sendable {
    let transport = FakeTransport([.failure(HTTPTransportError(.cannotConnect, "nobody is there"))])
  }

  @Test(.enabled(if: !files.isEmpty, "the genuine receipts are not at hand"))
  func applesRespondersAreAskedAboutEveryGenuineReceipt() async throws {
    let names = try FileManager.default.contentsOfDirectory(
      atPath: Self.folder.appendingPathComponent("trust").path)
    let intermediates = try names.filter { $0.hasPrefix("AppleWWDRCA") || $0.hasPrefix("AppleiTunes") }.map {
      try Certificate(der: [UInt8](Data(contentsOf: Self.folder.appendingPathComponent("trust/\($0)"))))
    }
    let verifier = ReceiptVerifier(
      trust: .apple,
      policy: VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox]),
      intermediates: intermediates)
    var count = 0
    var asked: Set<String> = []
    for file in Self.files {
      let bytes = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent(file)))
      guard let receipt = verifier.verify(bytes).receipt else { continue }
      let chain = receipt.signer.certificates
      #expect(chain.count == 3 && chain.first?.sha256FingerprintHex == receipt.signer.sha256, "\(file)")
      let nobody = NobodyThere()
      var options = RevocationOptions()
      options.retryPolicy = .once(within: .seconds(1))
      let noted = NoteBox()
      options.report = { note in noted.notes.withLock { $0.append(note) } }
      let checker = RevocationChecker(transport: nobody.transport, options: options)
      let answer = await checker.check(receipt)
      #expect(answer.retryableMessage?.contains("nobody is there") == true, "\(file): \(answer)")
      let requests = nobody.transport.requests
      #expect(requests.allSatisfy { $0.url.host.hasSuffix(".apple.com") }, "\(file)")
      // The leaves of the oldest transaction receipts name no responder.
      let expected = file.hasPrefix("transaction-receipt/v2-") ? 1 : 2
      #expect(requests.count == expected, "\(file): \(requests)")
      #expect(noted.notes.withLock { $0.map(\.subject) } == (expected == 1 ? [.noPointer] : []), "\(file)")
      asked.formUnion(requests.map(\.url.description))
      count += 1
    }
    #expect(count > 40, "of \(Self.files.count)")
    #expect(asked.contains("http://ocsp.apple.com/ocsp03-wwdrg602"), "\(asked)")
    #expect(asked.contains("http://ocsp.apple.com/ocsp03-applerootcag3"), "\(asked)")
  }
}
