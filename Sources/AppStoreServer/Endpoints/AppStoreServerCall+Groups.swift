// SPDX-License-Identifier: Apache-2.0

extension AppStoreServerCall where Response == CurrentGroupsResponse, Value == CurrentGroupsResponse {
  /// The groups that a customer belongs to; in the sandbox alone.
  ///
  /// - Parameter anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  /// - Returns: The call.
  public static func currentGroups(of anyTransactionId: String) -> Self {
    Self(.currentGroups, AppStoreServerRequest(anyTransactionId))
  }
}

extension AppStoreServerPagedCall where Response == GroupMembersResponse, Element == GroupMember {
  /// The members of a group; in the sandbox alone.
  ///
  /// - Parameters:
  ///   - groupId: The group.
  ///   - limit: How many members a page has at most, 1 to 100.
  /// - Returns: The call.
  public static func groupMembers(of groupId: String, limit: Int? = nil) -> Self {
    Self { token in
      var request = AppStoreServerRequest(groupId)
      if let limit { request.query.append(("limit", String(limit))) }
      if let token { request.query.append(("paginationToken", token)) }
      request.limits.requireValue(limit.map(Int64.init), in: 1...100, at: "limit")
      return AppStoreServerCall(.groupMembers, request) { (response, parts) throws(AppStoreServerError) in
        try parts.page(
          response.members ?? [], hasMore: response.hasMore, next: response.paginationToken,
          named: "paginationToken")
      }
    }
  }
}
