// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ReceiptObservability
import ReceiptVerification

/// The context of a handler behind the middleware: it has a receipt that was verified.
struct PurchaseContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  var receipt: VerifiedReceipt?

  init(source: Source) { coreContext = .init(source: source) }
}

/// Verifies the receipt in the body of a request. Only genuine ones whose purchase stands come through.
struct ReceiptMiddleware: RouterMiddleware {
  let verifier: ReceiptVerifier
  let observer: ReceiptObserver

  func handle(
    _ request: Request, context: PurchaseContext,
    next: (Request, PurchaseContext) async throws -> Response
  ) async throws -> Response {
    let body = try await request.body.collect(upTo: 1 << 20)
    switch verifier.verify(Array(body.readableBytesView), observer: observer) {
    // Genuine is not enough: the purchase may have expired, or may have been refunded.
    case .valid(let receipt) where receipt.standing(at: SystemClock.now())?.grantsAccess == true:
      var context = context
      context.receipt = receipt
      return try await next(request, context)
    case .valid: throw HTTPError(.forbidden, message: "not-current")
    case .invalid(let receipt):
      throw HTTPError(.unprocessableContent, message: receipt.reason.code.rawValue)
    case .undetermined(let receipt):
      // Neither granted nor refused. Without Retry-After, what the reason names must be corrected here first.
      let headers: HTTPFields = receipt.isRetryable ? [.retryAfter: "60"] : [:]
      throw HTTPError(.serviceUnavailable, headers: headers, message: receipt.reason.code.rawValue)
    }
  }
}
