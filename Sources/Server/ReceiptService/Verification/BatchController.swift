// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptCodec

  /// Verifies batches: a receipt a line, a verdict a line.
  struct BatchController {
    let entitlements: ServiceEntitlements
    let identity: Identity
    let admission: Admission
    let maximumLineByteCount: Int

    var routes: [Route] { [.verifyBatch(verify)] }

    /// Answers a verdict for each line while lines arrive.
    ///
    /// If a verdict cannot be recorded, the response ends after a line with the error. All verdicts before it are
    /// recorded.
    private func verify(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let verification = try Verification(for: call, entitlements)
      let request = call.request
      if let problem = ReceiptContent.problem(request.headers) { throw problem }
      let place = try admission.batches.take(for: verification.app.name)
      let batch = BatchVerification(
        verification: verification, maximumLineByteCount: maximumLineByteCount,
        mayBeForm: ReceiptContent.isForm(request.headers))
      // Clients that tools generate from the API description do not know a media type for lines of JSON.
      let isPlain =
        request.prefers("text/plain", to: "application/jsonl")
        && !request.prefers("application/jsonl", to: "text/plain")
      return Response(
        status: .ok, headers: [.contentType: isPlain ? "text/plain; charset=utf-8" : "application/jsonl"],
        body: ResponseBody { [identity, principal = call.principal] writer in
          defer { withExtendedLifetime(place) {} }
          do {
            try await batch.run(request.body) { verdicts in
              // A batch may take hours, and its key may be revoked meanwhile.
              guard try await identity.isStillAllowed(principal, .verify) else { throw Problem.unauthorized }
              try await writer.write(ByteBuffer(bytes: verdicts))
            }
          } catch {
            try await writer.write(ByteBuffer(bytes: Self.lastLine(for: error)))
            // Ends the connection without the end of the body, so that no client takes this for the end of the batch.
            throw error
          }
          try await writer.finish(nil)
        })
    }

    private static func lastLine(for error: any Error) -> [UInt8] {
      let problem = error as? Problem
      var object = JSONWriter(type: "error")
      object.member("code", problem?.code ?? "unavailable")
      object.member(
        "message",
        problem?.status == .unauthorized
          ? "The key was revoked. What was answered holds."
          : problem?.detail ?? "The batch was not verified to its end. What was answered holds.")
      object.endObject()
      return object.bytes + [0x0A]
    }
  }
#endif
