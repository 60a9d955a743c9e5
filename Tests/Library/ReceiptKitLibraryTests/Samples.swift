// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting

/// A store whose receipts the library signs and verifies.
struct Samples {
  let authority: TestAuthority
  let receipt: [UInt8]

  init() throws {
    authority = try TestAuthority.es256()
    receipt = Array(
      try JWSSigner(identity: authority.identity).sign(.transaction(Self.transaction)).utf8)
  }

  private static let transaction = JWSTransaction().with {
    $0.bundleId = "com.example.app"
    $0.transactionId = "1"
    $0.originalTransactionId = "1"
    $0.productId = "gems"
    $0.type = .consumable
    $0.quantity = 1
    $0.environment = .sandbox
    $0.purchaseDate = Timestamp(secondsSince1970: 1_759_302_550)
    $0.signedDate = Timestamp(secondsSince1970: 1_759_302_552)
  }

  /// A policy that accepts ``receipt``, with more members.
  func policy(_ more: String = "") -> String {
    """
    {"bundleIds": ["com.example.app"], "environments": ["sandbox"], "trust": [\(Self.quoted(authority.root.pem))]\(more)}
    """
  }

  /// The receipt with another signature.
  var forged: [UInt8] {
    var forged = receipt
    let place = forged.count - 10
    forged[place] = forged[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    return forged
  }

  static func quoted(_ text: String) -> String {
    var json = JSONWriter()
    json.string(text)
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
