// SPDX-License-Identifier: Apache-2.0

extension GooglePlayLicense: Encodable {
  package var jsonValue: JSONValue {
    .members(
      ("responseCode", .integer(responseCode.number)), ("nonce", .integer(nonce)),
      ("packageName", .string(packageName)), ("versionCode", .string(versionCode)),
      ("userId", .string(userId)), ("timestamp", .string(timestamp.iso8601)),
      ("extras", extras.map { .string($0) }))
  }

  /// Encodes the fields by name; the date is in ISO 8601.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws { try jsonValue.encode(to: encoder) }
}

extension DetachedContent: Encodable {
  /// Returns the data as JSON: the signed data if it is JSON, or else the fields by name.
  package func jsonValue(of bytes: [UInt8]) -> JSONValue {
    guard case .googlePlayLicense(let license) = self else {
      return (try? JSONValue(parsing: bytes)) ?? .null
    }
    return license.jsonValue
  }

  /// Encodes the data as the store signs it, and a licence response as its fields by name.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .googlePlayPurchase(let purchase): try purchase.encode(to: encoder)
    case .googlePlayOrders(let orders): try orders.encode(to: encoder)
    case .googlePlayLicense(let license): try license.encode(to: encoder)
    case .huaweiPurchase(let purchase): try purchase.encode(to: encoder)
    }
  }
}
