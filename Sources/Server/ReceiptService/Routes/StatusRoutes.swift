// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptCodec

  extension ReceiptAPI {
    /// The operations, in the order of the API description.
    package var routes: [Route] {
      verificationRoutes + entitlementRoutes + auditRoutes + webhookRoutes + keyRoutes + actRoutes
        + statusRoutes
    }

    private var statusRoutes: [Route] {
      [
        Route(
          method: .get, path: "/healthz", operation: "getHealth", access: .open,
          summary: "Whether the process answers.",
          answers: [(200, "It does.", [.init(mediaType: "text/plain", schema: "Text")])],
          respond: { _, _ in Self.text("ok\n") }),
        Route(
          method: .get, path: "/openapi.json", operation: "getDescription", access: .open,
          summary: "The description of this API, in OpenAPI 3.1.",
          answers: [(200, "The description.", [.init(mediaType: "application/json", schema: "Description")])],
          respond: { [unowned self] _, _ in
            .json(OpenAPIDocument(routes: routes, url: configuration.publicURL).object)
          }),
        Route(
          method: .get, path: "/readyz", operation: "getReadiness", access: .open,
          summary:
            "Whether requests should be sent here: database and audit trail take writes, and no shutdown has begun.",
          answers: [
            (200, "They should.", [.init(mediaType: "text/plain", schema: "Text")]),
            (503, "They should not.", [.init(mediaType: "application/problem+json", schema: "Problem")]),
          ],
          respond: { [unowned self] _, _ in
            guard !isShuttingDown else { throw Problem.unavailable("The service is shutting down.") }
            if let failure = await writeProbe.failure() { throw Problem.unavailable(failure) }
            return Self.text("ready\n")
          }),
      ]
    }

    static func text(_ text: String) -> Response {
      Response(
        status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
  }
#endif
