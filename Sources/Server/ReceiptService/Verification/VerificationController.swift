// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptCodec
  internal import ReceiptInspection

  struct VerificationController {
    static let path = "/v1/verify"

    let entitlements: ServiceEntitlements
    let bodies: BodyReader

    var routes: [Route] { [.verify(verify), .inspect(inspect)] }

    private func verify(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let verification = try Verification(for: call, entitlements)
      let bytes = try await bodies.content(of: call.request)
      let (verdict, acknowledgement) = try await verification.verdict(on: bytes)
      verification.count([verdict])
      return .json(verification.report(verdict, acknowledgement))
    }

    /// Shows the contents of a receipt, which is not verified.
    private func inspect(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let bytes = try await bodies.content(of: call.request)
      do throws(MalformedReceipt) {
        let inspection = try Inspection(of: ReceiptInputText.stripped(bytes))
        var object = JSONWriter(type: "inspection")
        inspection.write(to: &object)
        object.endObject()
        return .json(object)
      } catch {
        throw Problem(
          .unprocessableContent, error.code.rawValue, error.message,
          at: error.place == .whole ? nil : error.place.description)
      }
    }
  }
#endif
