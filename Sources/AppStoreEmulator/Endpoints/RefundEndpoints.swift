// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Refunded purchases, by the date of revocation.
extension TransactionEndpoints {
  @Sendable static func refunds(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let refunded = try refunded(call)
    let query = query(call)
    var start = 0
    if let revision = try call.value("revision", orElse: .invalidRevision) {
      guard let token = PageToken(revision, query: query) else { throw .invalidRevision }
      // There may be newer refunds since the last page; continue after the last modification that was read.
      start = (refunded.firstIndex { $0.modification == token.position } ?? -1) + 1
    }
    let page = refunded.dropFirst(start).prefix(PageToken.pageSize)
    let position = page.last?.modification ?? refunded.prefix(start).last?.modification ?? 0
    return .json(
      .members(
        ("signedTransactions", .array(page.map { call.sign($0.transaction) })),
        ("revision", .string(PageToken(position: position, issued: call.now).text(query: query))),
        ("hasMore", .bool(page.endIndex < refunded.endIndex))))
  }

  /// Version 1 returns at most fifty, without paging.
  @Sendable static func refundsVersion1(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let refunded = try refunded(call).prefix(50)
    return .json(.members(("signedTransactions", .array(refunded.map { call.sign($0.transaction) }))))
  }

  private static func refunded(
    _ call: EndpointCall
  ) throws(EmulatorError) -> [EmulatorState.TransactionRecord] {
    let identifier = try call.transactionIdentifier()
    return try call.store.state.change { (state) throws(EmulatorError) in
      guard let customer = state.customer(of: identifier) else { throw .transactionNotFound }
      return state.history(of: customer).compactMap { state.transactions[$0] }
        .filter { $0.transaction.revocationDate != nil }
        .sorted {
          let left = $0.transaction.revocationDate?.millisecondsSince1970 ?? 0
          let right = $1.transaction.revocationDate?.millisecondsSince1970 ?? 0
          return left == right ? $0.modification < $1.modification : left < right
        }
    }
  }
}
