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

  fileprivate var content: Content {
    switch self {
    case .createOneTimeCharge(let request):
      (.createOneTimeCharge, request.requestInfo, request.storefront, request)
    case .createSubscription(let request):
      (.createSubscription, request.requestInfo, request.storefront, request)
    case .modifySubscription(let request):
      (.modifySubscription, request.requestInfo, request.storefront, request)
    case .reactivateSubscription(let request):
      (.reactivateSubscription, request.requestInfo, request.storefront, request)
    }
  }

  fileprivate typealias Content = (
    operation: AdvancedCommerceRequest.Operation, info: AdvancedCommerceRequestInfo, storefront: String?,
    body: any WireRequest
  )
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
    var members: [JSONMember] = []
    do throws(MalformedReceipt) {
      if case .object(let all) = try JSONValue(parsing: body.encodedJSON()) { members = all }
    } catch {
      throw SigningError(error)
    }
    self.init(
      operation, requestReferenceId: info.requestReferenceId, appAccountToken: info.appAccountToken,
      consistencyToken: info.consistencyToken, storefront: storefront,
      members: members.filter { $0.name != "requestInfo" && $0.name != "storefront" })
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
