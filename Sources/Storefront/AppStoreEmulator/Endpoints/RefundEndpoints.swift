// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The endpoints for refunded purchases, ordered by revocation date.
extension TransactionEndpoints {
  @Sendable static func refunds(_ call: EndpointCall) async throws -> RemoteResponse {
    let refunded = try await refunded(call)
    let query = query(call)
    var start = 0
    if let revision = try call.value("revision", orElse: .invalidRequestRevision) {
      guard let token = PageToken(revision, query: query) else { throw Refusal.invalidRequestRevision }
      // There may be newer refunds since the last page, so continue after the last modification that was read.
      start = (refunded.firstIndex { $0.modification == token.position } ?? -1) + 1
    }
    let page = refunded.dropFirst(start).prefix(PageToken.pageSize)
    let position = page.last?.modification ?? refunded.prefix(start).last?.modification ?? 0
    return .json(
      ("signedTransactions", .array(page.map { call.sign($0.transaction) })),
      ("revision", .string(PageToken(position: position, issued: call.now).text(query: query))),
      ("hasMore", .bool(page.endIndex < refunded.endIndex)))
  }

  /// Version 1 returns at most fifty transactions, without paging.
  @Sendable static func refundsVersion1(_ call: EndpointCall) async throws -> RemoteResponse {
    let refunded = try await refunded(call).prefix(50)
    return .json(("signedTransactions", .array(refunded.map { call.sign($0.transaction) })))
  }

  private static func refunded(_ call: EndpointCall) async throws -> [StoreSaleRecord] {
    let account = try await call.account()
    let sales = try await call.purchases.history(of: account) { $0.transaction.revocationDate != nil }.sales
    return sales.sorted {
      let left = $0.transaction.revocationDate?.millisecondsSince1970 ?? 0
      let right = $1.transaction.revocationDate?.millisecondsSince1970 ?? 0
      return left == right ? $0.modification < $1.modification : left < right
    }
  }
}
