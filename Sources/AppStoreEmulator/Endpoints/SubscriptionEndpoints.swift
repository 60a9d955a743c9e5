// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The statuses of a customer's subscriptions.
enum SubscriptionEndpoints {
  static let routes = [Route("GET", "/inApps/v1/subscriptions/{}", statuses)]

  private struct Item: Sendable {
    var group: String
    var status: Int64
    var original: String
    var transaction: JWSTransaction
    var renewalInfo: JWSRenewalInfo
  }

  @Sendable static func statuses(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let identifier = try call.transactionIdentifier()
    let statuses = try call.choices("status", of: ["1", "2", "3", "4", "5"], orElse: .invalidStatus)
    let items = try call.store.state.change { (state) throws(EmulatorError) -> [Item] in
      guard let customer = state.customer(of: identifier) else { throw .transactionNotFound }
      return state.customers[customer].originalTransactionIds.compactMap { original in
        guard let subscription = state.subscriptions[original],
          let transaction = state.transactions[subscription.latestTransactionId]?.transaction,
          statuses.isEmpty || statuses.contains(String(subscription.status.rawValue))
        else { return nil }
        return Item(
          group: transaction.subscriptionGroupIdentifier ?? "", status: subscription.status.rawValue,
          original: original, transaction: transaction, renewalInfo: subscription.renewalInfo)
      }
    }
    var groups: [(identifier: String, items: [Item])] = []
    for item in items {
      if let index = groups.firstIndex(where: { $0.identifier == item.group }) {
        groups[index].items.append(item)
      } else {
        groups.append((item.group, [item]))
      }
    }
    let data = groups.map { group in
      JSONValue.members(
        ("subscriptionGroupIdentifier", .string(group.identifier)),
        ("lastTransactions", .array(group.items.map { json($0, call) })))
    }
    let members = call.app + [("data", .array(data))]
    return .json(
      .object(members.compactMap { member in member.value.map { JSONMember(name: member.name, value: $0) } }))
  }

  private static func json(_ item: Item, _ call: EndpointCall) -> JSONValue {
    .members(
      ("status", .integer(item.status)), ("originalTransactionId", .string(item.original)),
      ("signedTransactionInfo", call.sign(item.transaction)),
      ("signedRenewalInfo", call.sign(item.renewalInfo)))
  }
}
