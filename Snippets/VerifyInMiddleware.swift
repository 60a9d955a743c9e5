// SPDX-License-Identifier: Apache-2.0
// Verify receipts in a middleware of Hummingbird: handlers get only receipts whose purchase stands.
// Usage: VerifyInMiddleware PORT

#if canImport(Hummingbird)
  // snippet.middleware
  import Hummingbird
  import ReceiptVerification

  /// The context of a handler behind the middleware: it has a receipt that was verified.
  struct PurchaseContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var receipt: VerifiedReceipt?

    init(source: Source) { coreContext = .init(source: source) }
  }

  struct ReceiptMiddleware: RouterMiddleware {
    let verifier: ReceiptVerifier

    func handle(
      _ request: Request, context: PurchaseContext,
      next: (Request, PurchaseContext) async throws -> Response
    ) async throws -> Response {
      let body = try await request.body.collect(upTo: 1 << 20)
      switch verifier.verify(Array(body.readableBytesView)) {
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

  let verifier = ReceiptVerifier(
    trust: .apple,
    policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))
  let router = Router(context: PurchaseContext.self)
  router.add(middleware: ReceiptMiddleware(verifier: verifier))
    .post("purchases") { _, context -> String in
      (context.receipt?.activePurchases(at: SystemClock.now()) ?? []).compactMap(\.productId)
        .joined(separator: "\n")
    }
  let port = Int(CommandLine.arguments[1]) ?? 8080
  try await Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: port))
  ).runService()
// snippet.end
#endif
