// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptSigning

/// A request of the Advanced Commerce API that an app passes to StoreKit, with typed members.
///
/// ```swift
/// let request = try AdvancedCommerceRequest(.createOneTimeCharge(charge))
/// let jws = try signer.advancedCommerceRequest(request, nonce: nonce, issuedAt: now)
/// ```
public enum AdvancedCommerceInAppRequest: Sendable, Hashable {
  /// Sells a one-time purchase.
  case createOneTimeCharge(AdvancedCommerceOneTimeChargeCreateRequest)
  /// Sells a subscription.
  case createSubscription(AdvancedCommerceSubscriptionCreateRequest)
  /// Changes a subscription.
  case modifySubscription(AdvancedCommerceSubscriptionModifyInAppRequest)
  /// Turns the renewal of a subscription on again.
  case reactivateSubscription(AdvancedCommerceSubscriptionReactivateInAppRequest)

  fileprivate var content:
    (operation: String, info: AdvancedCommerceRequestInfo, storefront: String?, body: any WireRequest)
  {
    switch self {
    case .createOneTimeCharge(let request):
      ("CREATE_ONE_TIME_CHARGE", request.requestInfo, request.storefront, request)
    case .createSubscription(let request):
      ("CREATE_SUBSCRIPTION", request.requestInfo, request.storefront, request)
    case .modifySubscription(let request):
      ("MODIFY_SUBSCRIPTION", request.requestInfo, request.storefront, request)
    case .reactivateSubscription(let request):
      ("REACTIVATE_SUBSCRIPTION", request.requestInfo, request.storefront, request)
    }
  }
}

extension AdvancedCommerceRequest {
  /// Creates a request to be signed, and checks it against the limits that Apple documents.
  ///
  /// - Throws: `SigningError` with `invalid-value` and the place of the first limit that the request breaks.
  public init(_ request: AdvancedCommerceInAppRequest) throws(SigningError) {
    let (operation, info, storefront, body) = request.content
    var limits = RequestLimits()
    body.checkFields(&limits, at: "$")
    body.checkRules(&limits)
    if let violation = limits.violation {
      throw SigningError(.invalidValue, at: violation.place, violation.message)
    }
    let members: [JSONMember]
    do throws(MalformedReceipt) {
      members = try JSONValue(parsing: body.encodedJSON()).object ?? []
    } catch {
      throw SigningError(error)
    }
    var json = JSONWriter()
    json.object { json in
      json.member("operation", operation)
      json.member("version", "1")
      json.object("requestInfo") { json in
        json.member("requestReferenceId", info.requestReferenceId.rawValue)
        json.member("appAccountToken", info.appAccountToken?.rawValue)
        json.member("consistencyToken", info.consistencyToken)
      }
      json.member("storefront", storefront)
      let written = ["operation", "version", "requestInfo", "storefront"]
      for member in members where !written.contains(member.name) {
        json.name(member.name)
        json.value(member.value)
      }
    }
    self.init(encoded: json.bytes)
  }
}

/// The rules over several fields that Apple documents with the error codes of its answers.
extension AdvancedCommerceSubscriptionCreateRequest {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.requireDistinct(items.map { ("$.items", $0.sku) })
  }
}

extension AdvancedCommerceSubscriptionReactivateInAppRequest {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.requireDistinct((items ?? []).map { ("$.items", $0.sku) })
  }
}

extension AdvancedCommerceSubscriptionModifyInAppRequest {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.require(
      addItems != nil || changeItems != nil || removeItems != nil || periodChange != nil
        || descriptors != nil,
      at: "$", "It changes nothing.")
    limits.requireDistinct(
      (addItems ?? []).map { ("$.addItems", $0.sku) }
        + (changeItems ?? []).map { ("$.changeItems", $0.currentSKU) }
        + (removeItems ?? []).map { ("$.removeItems", $0.sku) })
    for (index, item) in (changeItems ?? []).enumerated() {
      limits.require(
        item.proratedPrice == nil || item.effective == .immediately,
        at: "$.changeItems[\(index)].proratedPrice", "It is for a change that takes effect at once.")
      limits.require(
        periodChange?.effective != .immediately || item.effective == .immediately,
        at: "$.changeItems[\(index)].effective", "The period changes at once, and the item must, too.")
    }
    limits.require(
      !retainBillingCycle || periodChange?.effective != .immediately, at: "$.retainBillingCycle",
      "A period that changes at once begins anew.")
  }
}

extension RequestLimits {
  fileprivate mutating func requireDistinct(_ items: [(place: String, sku: String)]) {
    var seen: Set<String> = []
    for (place, sku) in items {
      require(seen.insert(sku).inserted, at: place, "The item \"\(sku)\" is named more than once.")
    }
  }
}
