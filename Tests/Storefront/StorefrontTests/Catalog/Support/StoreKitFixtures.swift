// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
@testable import Storefront

/// The `.storekit` files beside these tests, by their version.
enum StoreKitFixtures {
  static let versions = ["1.1", "1.2", "2.0", "3.0", "4.0", "5.0", "6.3"]

  static func bytes(_ version: String) throws -> [UInt8] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../Fixtures/\(version).storekit")
    return Array(try Data(contentsOf: file.standardized))
  }

  static func document(_ version: String) throws -> JSONValue { try JSONValue(parsing: bytes(version)) }

  static func configuration(_ version: String) throws -> StoreKitConfiguration {
    try StoreKitConfiguration(parsing: bytes(version))
  }

  static func catalog(_ version: String) throws -> ProductCatalog {
    try ProductCatalog(storeKitConfiguration: bytes(version))
  }
}
