// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptCodec
  internal import ReceiptInspection

  /// Shows the contents of receipts, which are not verified.
  struct InspectionController: Controller {
    let bodies: BodyReader

    var routes: [Route] {
      [
        Route(
          method: .post, path: "/v1/inspect", operation: "inspect",
          summary: "Shows what is in a receipt, all of it unverified.",
          // One media type stands for all: openapi-python-client 0.29 generates no client for several media types
          // without a parameter.
          body: [.init(mediaType: "application/octet-stream", schema: "Receipt")],
          answers: [
            (200, "What is in it.", Route.Content.json("inspection")), Route.unsupported,
            (422, "It is no receipt.", Route.Content.problem),
          ],
          respond: .key(.verify, inspect))
      ]
    }

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
