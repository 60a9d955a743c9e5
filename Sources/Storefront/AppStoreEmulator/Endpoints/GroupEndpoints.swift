// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The endpoints of role groups, which exist only in the sandbox.
enum GroupEndpoints {
  static let routes = [
    Route("GET", "/groups/v1/currentGroups/{}", current),
    Route("GET", "/groups/v1/group/{}", members),
  ]

  private static let greatestLimit = 100

  @Sendable static func current(_ call: EndpointCall) async throws -> RemoteResponse {
    if let response = productionRefusal(call) { return response }
    let identifier = try call.transactionIdentifier()
    let app = try await call.purchases.appTransaction(of: call.account())
    let member = app?.appTransactionId ?? identifier
    let groups = call.state.groups.filter { $0.value.members.contains(member) }.sorted { $0.key < $1.key }
      .map { id, group in
        let roles = group.roles.map { ["productId": $0.productId, "role": $0.role] as JSONMembers }
        return ["groupId": id, "groupType": group.groupType, "roles": roles] as JSONMembers
      }
    return .json(["groups": groups])
  }

  @Sendable static func members(_ call: EndpointCall) throws -> RemoteResponse {
    if let response = productionRefusal(call) { return response }
    let groupId = call.parameter()
    guard 1...64 ~= groupId.utf8.count else { throw Refusal.invalidGroupId }
    var limit = greatestLimit
    if let text = try call.value("limit", orElse: .invalidLimit) {
      guard let number = Int(text), 1...greatestLimit ~= number else { throw Refusal.invalidLimit }
      limit = number
    }
    guard let group = call.state.groups[groupId] else { throw Refusal.groupNotFound }
    let query = [groupId]
    var start = 0
    if let token = try call.page("paginationToken", of: query, orElse: .invalidPaginationToken) {
      guard 0...group.members.count ~= Int(token.position) else { throw Refusal.invalidPaginationToken }
      start = Int(token.position)
    }
    let page = group.members.dropFirst(start).prefix(limit)
    let hasMore = page.endIndex < group.members.endIndex
    let next = PageToken(position: Int64(page.endIndex), issued: call.now).text(query: query)
    return .json([
      "members": page.map { ["appTransactionId": $0] as JSONMembers }, "hasMore": hasMore,
      "paginationToken": hasMore ? next : nil,
    ])
  }

  private static func productionRefusal(_ call: EndpointCall) -> RemoteResponse? {
    guard call.configuration.environment == .production else { return nil }
    return .text("Groups are in the sandbox.\n", status: 404)
  }
}
