// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging
  internal import ReceiptCodec

  /// Answers apps that use cordova-plugin-purchase as its validator does
  /// (<https://github.com/j3k0/cordova-plugin-purchase>, `src/ts/validator`).
  ///
  /// The plugin reads only answers with the status 200, so that a failure has it, too. It runs in a web view, which asks
  /// for permission before it sends a purchase to another origin.
  struct CordovaController {
    private static let path = "/v1/validate"

    let gate: ClientGate

    var routes: [Route] { [.validateCordovaPurchase(validate)] }

    /// The answers to other methods, which are no operations of the API.
    var endpoints: [Endpoint] {
      [
        Endpoint(method: .options, path: Self.path) { _, _ in
          Self.permitted(Response(status: .noContent, headers: [.accessControlMaxAge: "86400"]))
        }
      ]
    }

    private func validate(_ request: Request, _ context: ServiceContext) async -> Response {
      do {
        let inHeader = Identity.presentedKey(request).map(String.init)
        let inURL = try request.queryParameter("apiKey")
        let call = try await gate.call(
          request, presenting: inURL ?? inHeader, isInURL: inURL != nil,
          app: try request.queryParameter("appName"), context)
        let body = try await gate.body(of: request, context)
        return Self.permitted(
          try await gate.admission.serve(in: call.places, context) {
            .json(await answer(body, try gate.verification(for: call), context.logger))
          })
      } catch let refusal as ClientRefusal {
        return Self.permitted(refusal.problem.response)
      } catch {
        return Self.permitted(Problem(for: error, context.logger).response)
      }
    }

    private func answer(
      _ body: [UInt8], _ verification: Verification, _ logger: Logger
    ) async -> JSONWriter {
      do throws(any Error) {
        guard let request = CordovaRequest(body) else {
          throw CordovaFailure.invalidPayload("The body is no purchase of cordova-plugin-purchase.")
        }
        return try await Self.withinDeadline {
          try await CordovaJudge(verification: verification).answer(to: request)
        }
      } catch let failure as CordovaFailure {
        return failure.json
      } catch {
        return CordovaFailure.internalError(Problem(for: error, logger).detail).json
      }
    }

    /// The time within which a purchase is answered: the plugin waits for 20 seconds.
    private static let deadline = Duration.seconds(15)

    private static func withinDeadline(
      _ work: @escaping @Sendable () async throws -> JSONWriter
    ) async throws -> JSONWriter {
      try await withThrowingTaskGroup(of: JSONWriter.self) { group in
        group.addTask(operation: work)
        group.addTask {
          try await Task.sleep(for: deadline)
          throw CordovaFailure.unreachable("The store did not answer in time.")
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
      }
    }

    /// Permits web pages of any origin to read a response. A key identifies the app, and no cookie does.
    private static func permitted(_ response: Response) -> Response {
      var response = response
      response.headers[.accessControlAllowOrigin] = "*"
      response.headers[.accessControlAllowMethods] = "POST"
      response.headers[.accessControlAllowHeaders] = "content-type, authorization"
      return response
    }
  }
#endif
