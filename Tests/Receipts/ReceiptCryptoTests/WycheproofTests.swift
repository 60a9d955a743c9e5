// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import Testing

/// Every signature vector of C2SP/wycheproof for the algorithms that are offered. A case that Wycheproof
/// calls `acceptable` (an RSA encoding without its NULL) is refused here.
@Suite(.enabled(if: SharedData.has("vectors/wycheproof"), "published vectors are not beside the package"))
struct WycheproofTests {
  struct File: Decodable {
    var numberOfTests: Int
    var testGroups: [Group]
  }

  struct Group: Decodable {
    var publicKeyDer: String
    var tests: [Case]
  }

  struct Case: Decodable {
    var tcId: Int
    var comment: String
    var msg: String
    var sig: String
    var result: String
  }

  @Test(arguments: [
    ("ecdsa_secp256r1_sha256_p1363_test.json", SignatureAlgorithm.ecdsaP256SHA256),
    ("ecdsa_secp256r1_sha256_test.json", .ecdsa(.sha256)),
    ("ecdsa_secp384r1_sha384_test.json", .ecdsa(.sha384)),
    ("rsa_signature_2048_sha256_test.json", .rsaPKCS1v15(.sha256)),
  ])
  func `every vector has its stated result`(name: String, algorithm: SignatureAlgorithm) throws {
    let data = Data(try SharedData.bytes("vectors/wycheproof/\(name)"))
    let file = try JSONDecoder().decode(File.self, from: data)
    var count = 0
    for group in file.testGroups {
      let key = try PublicKey(subjectPublicKeyInfo: bytes(hex: group.publicKeyDer))
      for test in group.tests {
        let isValid = try key.isValidSignature(
          bytes(hex: test.sig), for: bytes(hex: test.msg), using: algorithm)
        #expect(isValid == (test.result == "valid"), "\(name) \(test.tcId): \(test.comment)")
        count += 1
      }
    }
    #expect(count == file.numberOfTests)
    #expect(count > 200)
  }
}
