// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The endpoint for the statuses of a customer's subscriptions.
enum SubscriptionEndpoints {
  static let routes = [Route("GET", "/inApps/v1/subscriptions/{}", statuses)]

  @Sendable static func statuses(_ call: EndpointCall) async throws -> RemoteResponse {
    _ = try call.transactionIdentifier()
    let statuses = try call.choices("status", of: ["1", "2", "3", "4", "5"], orElse: .invalidStatus)
    let account = try await call.account()
    let states = try await call.purchases.subscriptionStates(of: account)
    var groups: [(identifier: String, items: [JSONValue])] = []
    for state in states where statuses.isEmpty || statuses.contains(String(state.status.rawValue)) {
      let group = state.subscription.groupIdentifier
      if let index = groups.firstIndex(where: { $0.identifier == group }) {
        groups[index].items.append(json(state, call))
      } else {
        groups.append((group, [json(state, call)]))
      }
    }
    let data = groups.map { group in
      JSONValue.members(
        ("subscriptionGroupIdentifier", .string(group.identifier)), ("lastTransactions", .array(group.items)))
    }
    return .json(.members(call.app + [("data", .array(data))]))
  }

  private static func json(_ state: LocalStore.SubscriptionState, _ call: EndpointCall) -> JSONValue {
    .members(
      ("status", .integer(state.status.rawValue)), ("originalTransactionId", .string(state.subscription.id)),
      ("signedTransactionInfo", call.sign(state.subscription.transaction)),
      ("signedRenewalInfo", call.sign(state.renewalInfo)))
  }
}
