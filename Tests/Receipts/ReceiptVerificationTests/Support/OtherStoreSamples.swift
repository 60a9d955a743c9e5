// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing

/// Purchases that Google Play and Huawei signed, and damaged ones, with their stated verdicts. They are not part of this
/// repository: see ``GenuineReceipts``.
enum OtherStoreSamples {
  struct Sample: Sendable, CustomTestStringConvertible {
    let file: String
    let store: PurchaseStore
    let data: String
    let signature: String
    let key: PublicKey
    let isGenuine: Bool
    let isExpectedValid: Bool

    var testDescription: String { file }

    var isShortKey: Bool { key.kind == .rsa(bits: 1024) }

    /// Data and signature in the form that this package writes.
    var receipt: [UInt8] {
      JSONValue.object([
        JSONMember(name: "data", value: .string(data)),
        JSONMember(name: "signature", value: .string(signature)),
      ]).encoded()
    }

    /// The package that the data names; `nil` where it is not even JSON.
    var package: String? {
      let text = Array(data.utf8)
      let start = text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
      let value = try? JSONValue(parsing: start)
      return (value?["packageName"] ?? value?["orders"]?.array?.first?["packageName"])?.string
    }

    /// A verifier to which the sample's key is the key of the app that the data names.
    func verifier(_ change: (inout VerificationPolicy) -> Void = { _ in }) -> ReceiptVerifier {
      GenuineReceipts.verifier(intermediates: []) {
        $0.appKeys = [AppKey(store, package: package ?? "com.gb.GalaxyBlitzWar", publicKey: key)]
        $0.admitsShortKeys = isShortKey
        change(&$0)
      }
    }
  }

  static let all: [Sample] = PurchaseStore.allCases.flatMap { store in
    let folder = GenuineReceipts.folder.appendingPathComponent(store.rawValue)
    let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    return files.compactMap { file -> Sample? in
      do {
        let contents = [UInt8](try Data(contentsOf: folder.appendingPathComponent(file)))
        let json = try JSONValue(parsing: contents)
        return Sample(
          file: "\(store.rawValue)/\(file)", store: store, data: try #require(json["data"]?.string),
          signature: try #require(json["signature"]?.string),
          key: try PublicKey(inFile: Array(try #require(json["publicKey"]?.string).utf8)),
          isGenuine: json["genuine"] == .bool(true),
          isExpectedValid: json["expect"]?.string == "valid")
      } catch {
        Issue.record("\(file) cannot be read: \(error)")
        return nil
      }
    }
  }

  static let valid = all.filter(\.isExpectedValid)
}
