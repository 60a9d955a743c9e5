// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird
  internal import ReceiptCodec

  /// Verifies single receipts.
  struct VerificationController: Controller {
    static let path = "/v1/verify"

    let entitlements: ServiceEntitlements
    let bodies: BodyReader

    var routes: [Route] {
      [
        Route(
          method: .post, path: Self.path, operation: "verify",
          summary: "Verifies a receipt of any kind.",
          parameters: [
            .policy, .app,
            .query(
              "customer", .text,
              "Who presents the receipt, recorded in the erasable part of the audit trail; without, the account that the receipt names."
            ),
          ],
          body: [
            .init(mediaType: "application/octet-stream", schema: "Receipt"),
            .init(mediaType: "application/json", schema: "WrappedReceipt"),
          ],
          answers: [(200, "The verdict, whatever it is.", Route.Content.json("verdict")), Route.unsupported],
          respond: .key(.verify, verify))
      ]
    }

    private func verify(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let verification = try Verification(for: call, entitlements)
      let bytes = try await bodies.content(of: call.request)
      let (verdict, acknowledgement) = try await verification.verdict(on: bytes)
      verification.count([verdict])
      return .json(verification.report(verdict, acknowledgement))
    }
  }
#endif
