// SPDX-License-Identifier: Apache-2.0

/// Groups of customers; in the sandbox alone.
extension AppStoreServerCalls {
  /// The groups that a customer belongs to.
  ///
  /// - Parameter anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  /// - Returns: The groups.
  /// - Throws: ``AppStoreServerError``.
  public func currentGroups(
    of anyTransactionId: String
  ) async throws(AppStoreServerError) -> CurrentGroupsResponse {
    try await raw.send(AppStoreServerCall(.currentGroups, anyTransactionId), as: CurrentGroupsResponse.self)
      .value
  }

  /// A page of the members of a group.
  ///
  /// - Parameters:
  ///   - groupId: The group.
  ///   - limit: How many members a page has at most, 1 to 100.
  ///   - paginationToken: That of the page before; `nil` for the first.
  /// - Returns: The members, and where the next page begins.
  /// - Throws: ``AppStoreServerError``.
  public func groupMembersPage(
    of groupId: String, limit: Int? = nil, paginationToken: String? = nil
  ) async throws(AppStoreServerError) -> GroupMembersResponse {
    try await raw.send(
      .groupMembers(of: groupId, limit: limit, paginationToken: paginationToken),
      as: GroupMembersResponse.self
    ).value
  }

  /// The members of a group, page after page as they are needed.
  public func groupMembers(of groupId: String, limit: Int? = nil) -> AppStoreServerPages<GroupMember> {
    let raw = raw
    return AppStoreServerPages { token throws(AppStoreServerError) in
      let answer = try await raw.send(
        .groupMembers(of: groupId, limit: limit, paginationToken: token), as: GroupMembersResponse.self)
      let page = answer.value
      return try AppStoreServerPage(
        elements: page.members ?? [], hasMore: page.hasMore, next: page.paginationToken,
        nextName: "paginationToken", of: answer)
    }
  }
}

extension AppStoreServerCall {
  fileprivate static func groupMembers(
    of groupId: String, limit: Int?, paginationToken: String?
  ) throws(AppStoreServerError) -> AppStoreServerCall {
    var query: [(name: String, value: String)] = []
    if let limit {
      try RequestLimits(.groupMembers).demand(
        (1...100).contains(limit), at: "limit", "It must be 1 to 100, not \(limit).")
      query.append(("limit", String(limit)))
    }
    if let paginationToken { query.append(("paginationToken", paginationToken)) }
    return try AppStoreServerCall(.groupMembers, groupId, query: query)
  }
}
