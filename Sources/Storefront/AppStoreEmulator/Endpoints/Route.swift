// SPDX-License-Identifier: Apache-2.0

public import AppStoreServer
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Storefront

/// A method and a path of an emulated store.
package struct RoutePattern: Sendable {
  package let method: String
  /// `{}` matches any single segment, `{}:verb` one that ends with the verb, and `{*}` at the end one or more.
  private let segments: [String]

  package init(_ method: String, _ path: String) {
    self.method = method
    segments = path.split(separator: "/").map { String($0) }
  }

  package var name: String { "\(method) /" + segments.joined(separator: "/") }

  /// The segments for each `{}`, which the closure must accept; `nil` if the path does not match.
  package func parameters(_ path: [String], where accepts: (String) -> Bool = { _ in true }) -> [String]? {
    guard path.count == segments.count || segments.last == "{*}" && path.count > segments.count else {
      return nil
    }
    var found: [String] = []
    for (pattern, segment) in zip(segments, path) where pattern != "{*}" {
      guard pattern.hasPrefix("{}") else {
        if pattern == segment { continue }
        return nil
      }
      let verb = pattern.dropFirst(2)
      guard segment.hasSuffix(verb), !verb.isEmpty || accepts(segment) else { return nil }
      found.append(String(segment.dropLast(verb.count)))
    }
    return found
  }
}

/// An endpoint of the App Store.
struct Route: Sendable {
  /// Throws a ``Refusal``, or `LocalStoreError`.
  typealias Answer = @Sendable (EndpointCall) async throws -> RemoteResponse

  let pattern: RoutePattern
  let needsToken: Bool
  let answer: Answer

  init(_ method: String, _ path: String, needsToken: Bool = true, _ answer: @escaping Answer) {
    pattern = RoutePattern(method, path)
    self.needsToken = needsToken
    self.answer = answer
  }

  private static let all: [Route] =
    TransactionEndpoints.routes + ExtensionEndpoints.routes + ConsumptionEndpoints.routes
    + NotificationEndpoints.routes + RetentionMessagingEndpoints.routes + GroupEndpoints.routes
    + AdvancedCommerceEndpoints.routes + ExternalPurchaseEndpoints.routes + ReceiptVerification.routes
    + RevocationEndpoints.routes

  /// Finds the route of a request, and the segments for its `{}`. A literal segment has precedence over `{}`. If only
  /// the method differs, that route is returned.
  static func match(_ request: EmulatorRequest) -> (route: Route, parameters: [String])? {
    let fitting = all.compactMap { route in
      route.pattern.parameters(request.path).map { (route: route, parameters: $0) }
    }.sorted { $0.parameters.count < $1.parameters.count }
    return fitting.first { $0.route.pattern.method == request.method } ?? fitting.first
  }
}

/// A request and the arguments from its path.
struct EndpointCall {
  let store: EmulatedAppStore
  let request: EmulatorRequest
  let parameters: [String]
  let now: Timestamp

  var configuration: EmulatedAppStore.Configuration { store.configuration }

  var purchases: LocalStore { store.purchases }
  var state: EmulatorState { store.state.withState { $0 } }

  /// Changes the state, and answers without a body.
  func change(_ body: (inout EmulatorState) throws -> Void) rethrows -> RemoteResponse {
    try store.state.withState(body)
    return .empty()
  }

  /// Removes something from the state, and answers without a body, or throws the error if it is not there.
  func change(
    orElse error: Refusal, _ remove: (inout EmulatorState) -> (some Sendable)?
  ) throws -> RemoteResponse {
    guard store.state.withState(remove) != nil else { throw error }
    return .empty()
  }

  /// The account that the transaction, original transaction or app transaction in the path belongs to.
  func account() async throws -> String {
    guard let account = try await purchases.account(of: transactionIdentifier()) else {
      throw Refusal.transactionIdNotFound
    }
    return account
  }

  /// The transaction whose identifier is in the path.
  func sale() async throws -> StoreSaleRecord {
    let identifier = try transactionIdentifier()
    if let sale = try await purchases.currentSale(identifier) { return sale }
    let app = try await purchases.appTransaction(of: account())
    throw app?.appTransactionId == identifier
      ? Refusal.appTransactionIdNotSupported : Refusal.transactionIdNotFound
  }

  /// The path segment that matched the pattern's nth `{}`.
  func parameter(_ index: Int = 0) -> String { parameters.indices.contains(index) ? parameters[index] : "" }

  /// The UUID in the path, in lower case.
  func uuid(_ index: Int = 0, orElse error: Refusal = .generalBadRequest) throws -> String {
    guard let uuid = JSONValue.string(parameter(index)).uuid else { throw error }
    return uuid
  }

  func values(_ name: String) -> [String] { request.query.filter { $0.name == name }.map(\.value) }

  /// The value of a query item that may occur at most once.
  func value(_ name: String, orElse error: Refusal) throws -> String? {
    let values = values(name)
    guard values.count <= 1 else { throw error }
    return values.first
  }

  /// The token of a page in the query, which must have been issued for a list.
  func page(_ name: String, of list: [String], orElse error: Refusal) throws -> PageToken? {
    try value(name, orElse: error).map { text in
      guard let token = PageToken(text, query: list) else { throw error }
      return token
    }
  }

  func instant(_ name: String, orElse error: Refusal) throws -> Timestamp? {
    try value(name, orElse: error).map { try Self.instant(Int64($0), orElse: error) }
  }

  static func instant(_ milliseconds: Int64?, orElse error: Refusal) throws -> Timestamp {
    guard let milliseconds, 0..<1 << 53 ~= milliseconds else { throw error }
    return Timestamp(millisecondsSince1970: Double(milliseconds))
  }

  func flag(_ name: String, orElse error: Refusal) throws -> Bool? {
    switch try value(name, orElse: error) {
    case nil: return nil
    // Apple's library for Python writes booleans as Python does.
    case "true", "True": return true
    case "false", "False": return false
    default: throw error
    }
  }

  /// The values of a query item, which must all be allowed. Without the item, all allowed values.
  func choices(
    _ name: String, of allowed: [String], orElse error: Refusal
  ) throws -> Set<String> {
    let values = values(name)
    guard values.allSatisfy({ allowed.contains($0) }) else { throw error }
    return Set(values)
  }

  /// The body, which must be a JSON object. A member that is `null` counts as absent.
  func body() throws -> JSONValue {
    guard let members = (try? JSONValue(parsing: request.body))?.object else {
      throw Refusal.generalBadRequest
    }
    return .object(members.filter { $0.value != .null })
  }

  func sign(_ transaction: JWSTransaction) -> String {
    store.signing.sign(.transaction(transaction.with { $0.signedDate = now }))
  }

  func sign(_ renewalInfo: JWSRenewalInfo) -> String {
    store.signing.sign(.renewalInfo(renewalInfo.with { $0.signedDate = now }))
  }

  /// The app and the environment, which most answers contain.
  var app: JSONMembers {
    [
      "environment": configuration.environment.rawValue, "bundleId": configuration.bundleId,
      "appAppleId": configuration.appAppleId,
    ]
  }

  /// Returns `true` if a text has the form of a transaction identifier: 1 to 64 digits.
  static func isTransactionIdentifier(_ text: String) -> Bool {
    1...64 ~= text.utf8.count && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  func transactionIdentifier() throws -> String {
    guard Self.isTransactionIdentifier(parameter()) else { throw Refusal.invalidTransactionId }
    return parameter()
  }
}

/// An opaque `revision` or `paginationToken`: a position in a list, bound to its query. It is not human-readable,
/// because clients must not interpret it.
struct PageToken: Hashable {
  static let pageSize = 20

  /// The position of the last element that was read. Each list defines its meaning.
  var position: Int64
  var issued: Timestamp

  /// The token as text. `query` is the endpoint with its filters. The token is valid only for the same query.
  func text(query: [String]) -> String {
    var bytes = Self.digest(query)
    for number in [position, Int64(issued.wholeMilliseconds / 1000)] {
      bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    return Base64URL.encodeToString(bytes)
  }

  init(position: Int64, issued: Timestamp) {
    self.position = position
    self.issued = issued
  }

  /// Reads a token; `nil` if it was not issued for this query.
  init?(_ text: String, query: [String]) {
    guard text.utf8.count == 32, let bytes = try? Base64URL.decode(Array(text.utf8)), bytes.count == 24,
      Array(bytes[..<8]) == Self.digest(query)
    else { return nil }
    func integer(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 << 8 | Int64($1) } }
    self.position = integer(8..<16)
    self.issued = Timestamp(secondsSince1970: integer(16..<24))
  }

  private static func digest(_ query: [String]) -> [UInt8] {
    // No filter contains the separator, so ["ab", "c"] and ["a", "bc"] differ.
    Array(Digest.hash(Array(query.joined(separator: "\u{0}").utf8), using: .sha256).prefix(8))
  }
}

/// The error of an endpoint that refuses a request.
typealias Refusal = AppStoreServerErrorCode

extension AppStoreServerErrorCode: Error {
  // Apple's documentation lists these errors without numbers. The two numbers are the emulator's own.
  static let consumptionPercentageOutOfRange = Self.unknown(4_000_200)
  static let undeliveredConsumptionPercentage = Self.unknown(4_000_201)
}

extension RemoteResponse {
  /// An error of the App Store Server API. The status is the code divided by 10000.
  static func refusal(_ code: Refusal, _ message: String? = nil) -> RemoteResponse {
    .json(
      ["errorCode": code.rawValue, "errorMessage": message ?? code.meaning ?? "The request is not valid."],
      status: Int(code.rawValue / 10_000))
  }

  /// The response for an error of an endpoint: a refusal, or an error of the store of purchases.
  static func failure(_ error: any Error) -> RemoteResponse {
    switch (error, (error as? LocalStoreError)?.code) {
    case (let code as Refusal, _): .refusal(code)
    case (_, .notFound?): .refusal(.transactionIdNotFound)
    case (let error as LocalStoreError, .refused?): .refusal(.generalBadRequest, error.message)
    default: .refusal(.generalInternal, "\(error)")
    }
  }
}
