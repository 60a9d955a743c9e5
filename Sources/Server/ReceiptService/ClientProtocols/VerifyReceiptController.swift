// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// Answers servers that post app receipts to Apple's deprecated `verifyReceipt`
  /// (<https://developer.apple.com/documentation/appstorereceipts/verifyreceipt>).
  ///
  /// The verdict is in the member `status`: the HTTP status is 200 for every answer.
  struct VerifyReceiptController {
    /// A value of `status` other than 0.
    private struct Status: Error {
      let code: Int64
      var isRetryable: Bool?
      /// The seconds after which to try again.
      var retryAfter: Int?

      static let badRequest = Status(code: 21000)
      static let malformed = Status(code: 21002)
      static let notAuthenticated = Status(code: 21003)
      static let sharedSecretMismatch = Status(code: 21004)
      static let unavailable = Status(code: 21005, isRetryable: true)
      static let sandboxReceipt = Status(code: 21007)
      static let productionReceipt = Status(code: 21008)
      static let internalError = Status(code: 21009, isRetryable: true)
      static func tooManyRequests(_ seconds: Int) -> Status {
        Status(code: 21100, isRetryable: true, retryAfter: seconds)
      }
    }

    let gate: ClientGate

    var routes: [Route] { [.verifyReceipt(verify)] }

    /// The answers to other methods, which are no operations of the API.
    var endpoints: [Endpoint] {
      [HTTPRequest.Method.get, .head, .put, .patch, .delete, .options].map { method in
        Endpoint(method: method, path: "/verifyReceipt") { _, _ in Self.response(.badRequest) }
      }
    }

    private func verify(_ request: Request, _ context: ServiceContext) async -> Response {
      do {
        let body = try await gate.body(of: request, context)
        guard let content = try? JSONValue(parsing: body), content.object != nil else {
          throw Status.malformed
        }
        let (key, isInURL) = try Self.key(of: request, content)
        let call = try await gate.call(request, presenting: key, isInURL: isInURL, context)
        return try await gate.admission.serve(in: call.places, context) {
          .json(try await answer(content, try gate.verification(for: call)))
        }
      } catch let problem as Problem where problem.status == .contentTooLarge {
        return problem.response
      } catch {
        return Self.response(Self.status(for: error, context.logger))
      }
    }

    /// The key of a request: in the header, in the URL, or in place of the shared secret.
    private static func key(
      of request: Request, _ content: JSONValue
    ) throws -> (String?, isInURL: Bool) {
      if let key = Identity.presentedKey(request) { return (String(key), false) }
      if let key = try request.queryParameter("apiKey") { return (key, true) }
      return (content["password"]?.string, false)
    }

    private static func status(for error: any Error, _ logger: Logger) -> Status {
      switch error {
      case let status as Status: return status
      case ClientRefusal.tooManyRequests(let exceeded): return .tooManyRequests(exceeded.retryAfter)
      case is ClientRefusal: return .sharedSecretMismatch
      default:
        let problem = Problem(for: error, logger)
        switch problem.status {
        case .badRequest: return .badRequest
        case .serviceUnavailable: return .unavailable
        default: return .internalError
        }
      }
    }

    private static func response(_ status: Status) -> Response {
      var json = JSONWriter()
      json.beginObject()
      json.member("status", status.code)
      json.member("is_retryable", status.isRetryable)
      json.member("is-retryable", status.isRetryable)
      json.endObject()
      var response = Response.json(json)
      if let seconds = status.retryAfter { response.headers[.retryAfter] = String(seconds) }
      return response
    }

    // MARK: Answering

    private func answer(_ content: JSONValue, _ verification: Verification) async throws -> JSONWriter {
      guard let data = content["receipt-data"]?.string, !data.isEmpty else { throw Status.malformed }
      let (verdict, _) = try await verification.verdict(on: Array(data.utf8))
      verification.count([verdict])
      let receipt = try Self.receipt(of: verdict, verification.policy.verifier.policy)
      let now = verification.entitlements.clock()
      let ledger = try await verification.entitlements.knownPurchases(
        of: [receipt], app: verification.app.name
      )
      .ledger(about: receipt)
      let document = VerifyReceiptDocument(receipt, ledger, at: now)
      var json = JSONWriter()
      json.beginObject()
      switch receipt.content {
      case .appReceipt(let payload):
        json.member("status", 0)
        json.member("environment", payload.environment?.category == .production ? "Production" : "Sandbox")
        json.name("receipt")
        json.beginObject()
        document.writeMembers(of: payload, to: &json)
        json.endObject()
        if document.hasSubscriptions {
          json.member("latest_receipt", Base64.encodeToString(receipt.encoded))
          let excludesOld = content["exclude-old-transactions"] == .bool(true)
          json.member("latest_receipt_info", document.latestReceiptInfo(excludesOld: excludesOld))
          json.member("pending_renewal_info", document.pendingRenewalInfo())
        }
      case .transactionReceipt: document.writeFlatMembers(to: &json)
      case .jws, .detached: throw Status.malformed
      }
      json.endObject()
      return json
    }

    /// The receipt of a verdict, if it is genuine and of the app.
    private static func receipt(
      of verdict: Verdict, _ policy: VerificationPolicy
    ) throws(Status) -> VerifiedReceipt {
      guard let reason = verdict.reason else {
        guard let receipt = verdict.receipt else { throw .notAuthenticated }
        return receipt
      }
      switch reason.code {
      // Whether a purchase stands is for the caller to see in the answer.
      case .notCurrent, .standingUnknown, .revoked:
        guard let receipt = verdict.signatureVerified else { throw .notAuthenticated }
        return receipt
      case .malformed: throw .malformed
      case .wrongEnvironment:
        throw policy.environments.contains(.production) ? .sandboxReceipt : .productionReceipt
      case .checkerUnavailable: throw .unavailable
      case .internalFault: throw .internalError
      default: throw .notAuthenticated
      }
    }
  }
#endif
