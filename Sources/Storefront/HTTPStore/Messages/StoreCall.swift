// SPDX-License-Identifier: Apache-2.0

/// The calls of the store protocol: each is a `POST` of a JSON object to `BASE/v1/NAME`.
enum StoreCall: String, Sendable, CaseIterable {
  case products, purchase, unfinished, finish, restore

  /// The version of the protocol. An incompatible change needs a new one.
  static let version = "v1"

  var pathSegments: [String] { [Self.version, rawValue] }
}

/// Limits that both sides of the protocol observe.
enum StoreProtocolLimits {
  /// The greatest number of product identifiers in one request. Clients split longer lists.
  static let maximumProductIdentifierCount = 500
  /// The greatest number of languages in one request. Clients drop the least preferred ones.
  static let maximumLocaleCount = 50
  /// The greatest number of transactions in one answer.
  static let maximumPageCount = 100
  /// The longest request.
  static let maximumRequestByteCount = 1 << 20
  /// The longest answer.
  static let maximumResponseByteCount = 8 << 20
  /// The greatest JSON nesting, with room for future members.
  static let maximumDepth = 16
}
