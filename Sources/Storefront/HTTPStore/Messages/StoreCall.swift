// SPDX-License-Identifier: Apache-2.0

/// What can be asked of a store over HTTP: each is a `POST` of a JSON object to `BASE/v1/NAME`.
enum StoreCall: String, Sendable, CaseIterable {
  case products, purchase, unfinished, finish, restore

  /// The version of the protocol. A change that an older side would misunderstand takes another.
  static let version = "v1"

  var pathSegments: [String] { [Self.version, rawValue] }
}

/// What both sides of the protocol keep to.
enum StoreProtocolLimits {
  /// The most product identifiers in one request. Clients ask for more in several.
  static let maximumProductIdentifierCount = 500
  /// The most languages in one request; those after it are the least wanted.
  static let maximumLocaleCount = 50
  /// The most transactions in one answer.
  static let maximumPageCount = 100
  /// The longest request.
  static let maximumRequestByteCount = 1 << 20
  /// The longest answer.
  static let maximumResponseByteCount = 8 << 20
  /// How deep JSON nests, with room for members to come.
  static let maximumDepth = 16
}
