// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptBytes
import Testing

@testable import ReceiptCodec

/// Receipts that the App Store and Xcode signed. They are not part of this repository: the environment
/// variable `RECEIPTKIT_SHARED` names the folder that has them under `receipts`, by default `../shared`.
enum GenuineReceiptFolder {
  static let receipts: URL = {
    if let path = ProcessInfo.processInfo.environment["RECEIPTKIT_SHARED"] {
      return URL(fileURLWithPath: path).appendingPathComponent("receipts")
    }
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { root.deleteLastPathComponent() }
    return root.deletingLastPathComponent().appendingPathComponent("shared/receipts")
  }()

  /// The manifest's entries of one kind; empty, loudly, where the folder is not there.
  static let entries: [Entry] = {
    guard let manifest = try? Data(contentsOf: receipts.appendingPathComponent("manifest.json")) else {
      FileHandle.standardError.write(
        Data("SKIPPED: no genuine receipts at \(receipts.path); set RECEIPTKIT_SHARED.\n".utf8))
      return []
    }
    do {
      return try JSONDecoder().decode([Entry].self, from: manifest)
    } catch {
      FileHandle.standardError.write(Data("The manifest cannot be read: \(error)\n".utf8))
      return []
    }
  }()

  static let isPresent: Bool = {
    _ = entries
    return FileManager.default.fileExists(atPath: receipts.appendingPathComponent("manifest.json").path)
  }()

  static func entries(kind: String) -> [Entry] { entries.filter { $0.kind.hasPrefix(kind) } }

  struct Entry: Decodable, Sendable, CustomTestStringConvertible {
    var file: String
    var kind: String
    var expected: Expected

    var testDescription: String { file }

    private enum CodingKeys: String, CodingKey { case file, kind, expected }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      file = try container.decode(String.self, forKey: .file)
      kind = try container.decode(String.self, forKey: .kind)
      // The expected values of JWS have other types; their tests read them.
      expected =
        kind.hasPrefix("jws") ? Expected() : try container.decode(Expected.self, forKey: .expected)
    }

    /// The file as it is.
    func bytes() throws -> [UInt8] {
      [UInt8](try Data(contentsOf: GenuineReceiptFolder.receipts.appendingPathComponent(file)))
    }

    /// The file without the base64 around it.
    func binary() throws -> [UInt8] {
      let bytes = try bytes()
      return file.hasSuffix(".b64") ? try Base64.decode(bytes, allowingWhitespace: true) : bytes
    }
  }

  struct Expected: Decodable, Sendable {
    var parses: Bool?
    var digest: String?
    var signature_alg_oid: String?
    var signer_infos: Int?
    var signed_attrs: Bool?
    var embedded_cert_count: Int?
    var environment: String?
    var bundle_id: String?
    var app_version: String?
    var original_app_version: String?
    var receipt_creation_date: String?
    var original_purchase_date: String?
    var expiration_date: String?
    var opaque_hex: String?
    var sha1_hash_hex: String?
    var bundle_id_attr_hex: String?
    var in_app: [InApp]?
    var app_attribute_types: [Int]?
    var payload_len: Int?

    var signature_version: Int?
    var cert_len: Int?
    var environment_outer_unsigned: String?
    var pod_outer_unsigned: String?
    var signing_status_outer_unsigned: String?
    var outer_keys: [String]?
    var product_ids: [String]?
    var transaction_ids: [String]?
    var original_transaction_ids: [String?]?
    var purchase_dates: [String]?
    var purchase_date_ms: String?
    var original_purchase_date_ms: String?
    var expires_date: String?
    var quantity: Int64?
    var fields: [String: String]?
  }

  struct InApp: Decodable, Sendable {
    var product_id: String?
    var transaction_id: String?
    var original_transaction_id: String?
    var quantity: Int64?
    var purchase_date: String?
    var original_purchase_date: String?
    var expires_date: String?
    var cancellation_date: String?
    var web_order_line_item_id: Int64?
    var is_in_intro_offer: Int?
    var attribute_types: [Int]?
  }
}

extension Sequence<UInt8> {
  /// Two lower-case digits an octet.
  var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
