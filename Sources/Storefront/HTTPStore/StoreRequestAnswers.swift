// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Decodes a request, calls the store, and encodes its answer.
struct StoreRequestAnswers {
  let store: any Store

  func answer(_ call: StoreCall, _ body: [UInt8]) async throws(StoreRequestFailure) -> [UInt8] {
    switch call {
    case .products: try await products(try Self.read(body))
    case .purchase: try await purchase(try Self.read(body))
    case .unfinished: try await unfinished(try Self.read(body))
    case .finish: try await finish(try Self.read(body))
    case .restore: try await restore(try Self.read(body))
    }
  }

  private func products(_ message: ProductsMessage) async throws(StoreRequestFailure) -> [UInt8] {
    let most = StoreProtocolLimits.maximumProductIdentifierCount
    guard message.productIdentifiers.count <= most else {
      throw StoreRequestFailure(
        .malformedRequest, "Ask for at most \(most) products at a time.", place: "$.productIdentifiers")
    }
    let locales = message.preferredLocales.prefix(StoreProtocolLimits.maximumLocaleCount)
    do throws(StoreError) {
      let response = try await store.products(
        for: Set(message.productIdentifiers), preferredLocales: Array(locales))
      return ProductsAnswer(
        products: response.products.map(\.withoutCodes),
        invalidProductIdentifiers: response.invalidProductIdentifiers
      ).encodedJSON()
    } catch {
      return ProductsAnswer(error: error).encodedJSON()
    }
  }

  private func purchase(_ request: PurchaseRequest) async throws(StoreRequestFailure) -> [UInt8] {
    let outcome = try await available { () async throws(StoreUnavailable) in
      try await store.purchase(request)
    }
    return PurchaseAnswer(outcome, to: request.id).encodedJSON()
  }

  private func unfinished(_ message: UnfinishedMessage) async throws(StoreRequestFailure) -> [UInt8] {
    try await answerWithinLimit(message.limit) { limit async throws(StoreRequestFailure) in
      try await available { () async throws(StoreUnavailable) in
        try await store.unfinishedTransactions(after: message.after, limit: limit)
      }.encodedJSON()
    }
  }

  private func finish(_ message: FinishMessage) async throws(StoreRequestFailure) -> [UInt8] {
    try await available { () async throws(StoreUnavailable) in
      try await store.finish(transactionIdentifier: message.transactionIdentifier)
    }
    return message.encodedJSON()
  }

  private func restore(_ message: RestoreMessage) async throws(StoreRequestFailure) -> [UInt8] {
    let request = RestoreRequest(
      id: message.requestIdentifier, applicationUsername: message.applicationUsername)
    return try await answerWithinLimit(message.limit) { limit async throws(StoreRequestFailure) in
      do throws(StoreError) {
        let page = try await store.restore(request, after: message.after, limit: limit)
        return RestoreAnswer(
          requestIdentifier: request.id, transactions: page.transactions, next: page.next
        ).encodedJSON()
      } catch {
        return RestoreAnswer(requestIdentifier: request.id, error: error).encodedJSON()
      }
    }
  }

  private static func read<Message: JSONObject>(
    _ body: [UInt8]
  ) throws(StoreRequestFailure) -> Message {
    do throws(MalformedReceipt) {
      let limits = ReceiptLimits(
        maximumByteCount: StoreProtocolLimits.maximumRequestByteCount,
        maximumDepth: StoreProtocolLimits.maximumDepth)
      return try Message(json: body, part: "request", limits: limits)
    } catch {
      throw StoreRequestFailure(error)
    }
  }

  private func available<Value>(
    _ body: () async throws(StoreUnavailable) -> Value
  ) async throws(StoreRequestFailure) -> Value {
    do throws(StoreUnavailable) {
      return try await body()
    } catch {
      throw StoreRequestFailure(error)
    }
  }

  /// A page that is within the size that clients accept. If large receipts exceed it, the page is requested again with
  /// half the limit, which is safe: the same position gives the same transactions.
  private func answerWithinLimit(
    _ limit: PageLimit, _ page: (Int) async throws(StoreRequestFailure) -> [UInt8]
  ) async throws(StoreRequestFailure) -> [UInt8] {
    var count = limit.count
    while true {
      let body = try await page(count)
      if body.count <= StoreProtocolLimits.maximumResponseByteCount { return body }
      guard count > 1 else {
        throw StoreRequestFailure(
          .unavailable, "A single transaction is longer than an answer of this protocol may be.")
      }
      count /= 2
    }
  }
}
