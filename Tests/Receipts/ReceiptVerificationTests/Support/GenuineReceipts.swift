// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing

/// Receipts that the App Store and Xcode signed. They are not part of this repository: the environment
/// variable `RECEIPTKIT_SHARED` names the folder that has them under `receipts`, by default `../shared`.
enum GenuineReceipts {
  static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["RECEIPTKIT_SHARED"] {
      return URL(fileURLWithPath: path).appendingPathComponent("receipts")
    }
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { root.deleteLastPathComponent() }
    return root.deletingLastPathComponent().appendingPathComponent("shared/receipts")
  }()

  static let absence: Comment = "no genuine receipts at hand: set RECEIPTKIT_SHARED"

  static let isPresent = !entries.isEmpty

  /// The manifest; empty, loudly, where the folder is not there.
  static let entries: [Entry] = {
    let manifest = folder.appendingPathComponent("manifest.json")
    guard let data = try? Data(contentsOf: manifest) else {
      FileHandle.standardError.write(
        Data("SKIPPED: no genuine receipts at \(folder.path); set RECEIPTKIT_SHARED.\n".utf8))
      return []
    }
    do {
      return try JSONDecoder().decode([Entry].self, from: data)
    } catch {
      Issue.record("The manifest cannot be read: \(error)")
      return []
    }
  }()

  static func entries(kind: String) -> [Entry] { entries.filter { $0.kind == kind } }
  static var accepted: [Entry] { entries.filter(\.accept) }
  static var refused: [Entry] { entries.filter { !$0.accept } }
  static var xcode: [Entry] { entries.filter { $0.kind.hasSuffix("-xcode") } }

  /// Every certificate of `trust`, as a caller would supply intermediates: roots among them do no harm.
  static let intermediates: [Certificate] = {
    let trust = folder.appendingPathComponent("trust")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: trust.path)) ?? []
    return files.sorted().filter { $0.hasSuffix(".cer") }.compactMap { file in
      (try? Data(contentsOf: trust.appendingPathComponent(file)))
        .flatMap { try? Certificate.certificates(in: [UInt8]($0)).first }
    }
  }()

  static func certificate(_ name: String) throws -> Certificate {
    let data = try Data(contentsOf: folder.appendingPathComponent("trust/\(name).cer"))
    return try #require(Certificate.certificates(in: [UInt8](data)).first)
  }

  /// Trusts Apple and accepts every app, in the given environments.
  static func verifier(
    _ environments: Set<ReceiptEnvironment.Category> = [.production, .sandbox],
    intermediates: [Certificate] = intermediates,
    _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) -> ReceiptVerifier {
    var policy = VerificationPolicy(bundleIds: .any, environments: environments)
    change(&policy)
    return ReceiptVerifier(trust: .apple, policy: policy, intermediates: intermediates)
  }

  struct Entry: Decodable, Sendable, CustomTestStringConvertible {
    var file: String
    var kind: String
    var accept: Bool
    var leaf: Leaf?
    var expected: Expected

    var testDescription: String { file }

    func bytes() throws -> [UInt8] {
      [UInt8](try Data(contentsOf: GenuineReceipts.folder.appendingPathComponent(file)))
    }
  }

  struct Leaf: Decodable, Sendable {
    var sha256: String
  }

  struct ChainMember: Decodable, Sendable {
    var sha256: String?
  }

  struct Expected: Decodable, Sendable {
    var type: String?
    var environment: String?
    var environment_outer_unsigned: String?
    var bundle_id: String?
    var app_apple_id: Int64?
    var digest: String?
    var signature_version: Int?
    var chain: [ChainMember]?
    var product_ids: [String]?
    var transaction_ids: [String]?
    var original_transaction_ids: [String?]?
    var purchase_dates: [String]?
    var purchase_date_ms: String?
    var signed_date: String?
    var receipt_creation_date: String?
    var nested: [String: Expected]?
  }
}

extension String {
  /// The same date with three digits of the second's fraction, as verdicts print it.
  var withMilliseconds: String {
    count == "2025-10-01T07:09:12Z".count ? replacing("Z", with: ".000Z") : self
  }
}
