// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec

/// A request of the Advanced Commerce API, which an app passes to StoreKit in signed form.
///
/// The operation and the request's own information are typed. The rest of the body is free JSON; its required members
/// and the lengths of its texts are checked before signing.
///
/// | Operation | Required members |
/// |---|---|
/// | `createOneTimeCharge` | `currency`, `taxCode`, `item` |
/// | `createSubscription` | `currency`, `taxCode`, `descriptors`, `period`, `items` |
/// | `modifySubscription` | `transactionId`, `retainBillingCycle` |
/// | `reactivateSubscription` | `transactionId` |
public struct AdvancedCommerceRequest: Sendable, Hashable {
  /// The requested operation.
  package struct Operation: RawRepresentable, Sendable, Hashable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    package static let createOneTimeCharge = Operation(rawValue: "CREATE_ONE_TIME_CHARGE")
    package static let createSubscription = Operation(rawValue: "CREATE_SUBSCRIPTION")
    package static let modifySubscription = Operation(rawValue: "MODIFY_SUBSCRIPTION")
    package static let reactivateSubscription = Operation(rawValue: "REACTIVATE_SUBSCRIPTION")
  }

  package var operation: Operation
  /// The identifier of the request, a UUID.
  package var requestReferenceId: UUIDString
  /// The app's own identifier of the customer's account.
  package var appAccountToken: UUIDString?
  /// The token of the last renewal info, by which Apple detects that the subscription has changed since.
  package var consistencyToken: String?
  /// The storefront, three letters of ISO 3166-1.
  package var storefront: String?
  /// The members of the operation, in order: for example `currency`, `taxCode` and `item`.
  package var members: [JSONMember]

  package init(
    _ operation: Operation, requestReferenceId: UUIDString, appAccountToken: UUIDString? = nil,
    consistencyToken: String? = nil, storefront: String? = nil, members: [JSONMember]
  ) {
    self.operation = operation
    self.requestReferenceId = requestReferenceId
    self.appAccountToken = appAccountToken
    self.consistencyToken = consistencyToken
    self.storefront = storefront
    self.members = members
  }

  /// Returns the request as compact JSON: operation, version, requestInfo, storefront, then the members.
  ///
  /// - Throws: ``SigningError`` with `missing-field` if a member that the operation requires is missing, or
  ///   `invalid-value` in these cases: a text is too long (description 45 characters, displayName 30, SKU and
  ///   currentSKU 128), a member repeats another or one that this type writes itself, or the reference is not a UUID.
  package func encoded() throws(SigningError) -> [UInt8] {
    try check()
    var json = JSONWriter()
    json.beginObject()
    json.member("operation", operation.rawValue)
    json.member("version", "1")
    json.name("requestInfo")
    json.beginObject()
    json.member("requestReferenceId", requestReferenceId.rawValue)
    json.member("appAccountToken", appAccountToken?.rawValue)
    json.member("consistencyToken", consistencyToken)
    json.endObject()
    json.member("storefront", storefront)
    for member in members {
      json.name(member.name)
      json.value(member.value)
    }
    json.endObject()
    return json.bytes
  }

  private func check() throws(SigningError) {
    guard requestReferenceId.uuid != nil else {
      throw SigningError(.invalidValue, at: "$.requestInfo.requestReferenceId", "It must be a UUID.")
    }
    var names: Set<String> = ["operation", "version", "requestInfo", "storefront"]
    for member in members where !names.insert(member.name).inserted {
      throw JSONPath().member(member.name).failure(
        .invalidValue, "The member is written already; give it once, and not those with a property.")
    }
    for name in operation.requiredMembers where !names.contains(name) {
      throw JSONPath().missing(name, "The operation \(operation.rawValue) requires it.")
    }
    for member in members { try checkLengths(of: member, at: JSONPath().member(member.name)) }
  }

  private func checkLengths(of member: JSONMember, at place: JSONPath) throws(SigningError) {
    let limits = ["description": 45, "displayName": 30, "SKU": 128, "currentSKU": 128]
    switch member.value {
    case .string(let text):
      guard let limit = limits[member.name], text.count > limit else { return }
      throw place.failure(
        .invalidValue, "The text has \(text.count) characters; at most \(limit) are allowed.")
    case .object(let members):
      for inner in members { try checkLengths(of: inner, at: place.member(inner.name)) }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        try checkLengths(of: JSONMember(name: "", value: element), at: place.element(index))
      }
    case .null, .bool, .number: return
    }
  }
}

extension AdvancedCommerceRequest.Operation {
  fileprivate var requiredMembers: [String] {
    switch self {
    case .createOneTimeCharge: ["currency", "taxCode", "item"]
    case .createSubscription: ["currency", "taxCode", "descriptors", "period", "items"]
    case .modifySubscription: ["transactionId", "retainBillingCycle"]
    case .reactivateSubscription: ["transactionId"]
    default: []
    }
  }
}

extension DeveloperSigner {
  /// Signs an Advanced Commerce request: a JWS with the audience `advanced-commerce-api`.
  ///
  /// Its claim `request` is the request in base64.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - nonce: A UUID that was never used before; see ``randomNonce()``.
  ///   - issuedAt: The current time.
  /// - Returns: The compact JWS.
  /// - Throws: ``SigningError`` as thrown by the request's encoding, or with `invalid-value` if the
  ///   nonce is not a UUID or the time is out of range.
  public func advancedCommerceRequest(
    _ request: AdvancedCommerceRequest, nonce: UUIDString, issuedAt: Timestamp
  ) throws(SigningError) -> String {
    let encoded = Base64.encodeToString(try request.encoded())
    return try deviceToken(audience: "advanced-commerce-api", nonce: nonce, issuedAt: issuedAt) { claims in
      claims.member("request", encoded)
    }
  }
}
