// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Storefront

/// A method, a path and their handler.
struct Route: Sendable {
  typealias Answer = @Sendable (EndpointCall) async throws(EmulatorError) -> EmulatorResponse

  let method: String
  /// `{}` matches any single segment, `{*}` at the end one or more.
  let pattern: [String]
  let needsToken: Bool
  let answer: Answer

  init(_ method: String, _ pattern: String, needsToken: Bool = true, _ answer: @escaping Answer) {
    self.method = method
    self.pattern = pattern.split(separator: "/").map { String($0) }
    self.needsToken = needsToken
    self.answer = answer
  }

  var name: String { "\(method) /" + pattern.joined(separator: "/") }

  private static let all: [Route] =
    TransactionEndpoints.routes + SubscriptionEndpoints.routes + ExtensionEndpoints.routes
    + ConsumptionEndpoints.routes + NotificationEndpoints.routes + MessagingImageEndpoints.routes
    + MessagingMessageEndpoints.routes + MessagingSettingEndpoints.routes + GroupEndpoints.routes
    + AdvancedCommerceEndpoints.routes + ReceiptEndpoints.routes + RevocationEndpoints.routes

  /// The route of a request, with the segments for its `{}`. A literal segment has precedence over `{}`. If only the
  /// method differs, that route is returned.
  static func match(_ request: EmulatorRequest) -> (route: Route, parameters: [String])? {
    let fitting = all.filter { $0.fits(request.path) }
      .sorted { $0.pattern.count { $0 == "{}" } < $1.pattern.count { $0 == "{}" } }
    guard let route = fitting.first(where: { $0.method == request.method }) ?? fitting.first else {
      return nil
    }
    return (route, zip(route.pattern, request.path).filter { $0.0 == "{}" }.map(\.1))
  }

  private func fits(_ path: [String]) -> Bool {
    (path.count == pattern.count || pattern.last == "{*}" && path.count > pattern.count)
      && zip(pattern, path).allSatisfy { $0 == "{}" || $0 == "{*}" || $0 == $1 }
  }
}

/// A request and the arguments from its path.
struct EndpointCall {
  let store: EmulatedAppStore
  let request: EmulatorRequest
  let parameters: [String]
  let now: Timestamp

  var configuration: EmulatedAppStore.Configuration { store.configuration }

  /// Asks the store of purchases.
  func purchases<Value: Sendable>(
    _ body: @Sendable (LocalStore) async throws(LocalStoreError) -> Value
  ) async throws(EmulatorError) -> Value {
    do throws(LocalStoreError) { return try await body(store.purchases) } catch { throw EmulatorError(error) }
  }

  /// The account that the transaction, original transaction or app transaction in the path belongs to.
  func account() async throws(EmulatorError) -> String {
    let identifier = try transactionIdentifier()
    guard
      let account = try await purchases({ (store) async throws(LocalStoreError) in
        try await store.account(of: identifier)
      })
    else { throw .transactionNotFound }
    return account
  }

  /// The transaction whose identifier is in the path.
  func sale() async throws(EmulatorError) -> StoreSaleRecord {
    let identifier = try transactionIdentifier()
    let (sale, account) = try await purchases { (store) async throws(LocalStoreError) in
      (try await store.currentSale(identifier), try await store.account(of: identifier))
    }
    if let sale { return sale }
    guard let account else { throw .transactionNotFound }
    let app = try await purchases { (store) async throws(LocalStoreError) in
      try await store.appTransaction(of: account)
    }
    if app?.appTransactionId == identifier { throw .appTransactionIdNotSupported }
    throw .transactionNotFound
  }

  /// The segment for the pattern's nth `{}`.
  func parameter(_ index: Int = 0) -> String { parameters.indices.contains(index) ? parameters[index] : "" }

  func values(_ name: String) -> [String] { request.query.filter { $0.name == name }.map(\.value) }

  /// The value of a query item that may occur once.
  func value(_ name: String, orElse error: EmulatorError) throws(EmulatorError) -> String? {
    let values = values(name)
    guard values.count <= 1 else { throw error }
    return values.first
  }

  func instant(_ name: String, orElse error: EmulatorError) throws(EmulatorError) -> Timestamp? {
    guard let text = try value(name, orElse: error) else { return nil }
    guard let milliseconds = Int64(text), milliseconds >= 0, milliseconds < 1 << 53 else { throw error }
    return Timestamp(millisecondsSince1970: Double(milliseconds))
  }

  func flag(_ name: String, orElse error: EmulatorError) throws(EmulatorError) -> Bool? {
    switch try value(name, orElse: error) {
    case nil: return nil
    // Apple's library for Python writes Python's spelling.
    case "true", "True": return true
    case "false", "False": return false
    default: throw error
    }
  }

  /// The values of an item, each of them allowed; without the item, all allowed values.
  func choices(
    _ name: String, of allowed: [String], orElse error: EmulatorError
  ) throws(EmulatorError) -> Set<String> {
    let values = values(name)
    guard values.allSatisfy({ allowed.contains($0) }) else { throw error }
    return Set(values)
  }

  /// The body, which must be a JSON object.
  func body() throws(EmulatorError) -> JSONValue {
    guard let json = try? JSONValue(parsing: request.body), json.object != nil else {
      throw .generalBadRequest
    }
    return json
  }

  func sign(_ transaction: JWSTransaction) -> JSONValue {
    var transaction = transaction
    transaction.signedDate = now
    return .string(store.signing.sign(.transaction(transaction)))
  }

  func sign(_ renewalInfo: JWSRenewalInfo) -> JSONValue {
    var renewalInfo = renewalInfo
    renewalInfo.signedDate = now
    return .string(store.signing.sign(.renewalInfo(renewalInfo)))
  }

  func sign(_ notification: Notification) -> JSONValue {
    .string(store.signing.sign(.notification(notification)))
  }

  /// The app and environment, which most answers contain.
  var app: [(name: String, value: JSONValue?)] {
    [
      ("environment", .string(configuration.environment.rawValue)),
      ("bundleId", .string(configuration.bundleId)), ("appAppleId", .integer(configuration.appAppleId)),
    ]
  }

  /// Whether it has the form of a transaction identifier: digits.
  static func isTransactionIdentifier(_ text: String) -> Bool {
    1...64 ~= text.utf8.count && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  /// The transaction identifier in the path.
  func transactionIdentifier(_ index: Int = 0) throws(EmulatorError) -> String {
    guard Self.isTransactionIdentifier(parameter(index)) else { throw .invalidTransactionId }
    return parameter(index)
  }
}
