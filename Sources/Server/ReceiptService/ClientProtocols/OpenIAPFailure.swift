// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging
  internal import NIOCore
  internal import ReceiptCodec

  /// The reason that a request of OpenIAP has no verdict: a status, and errors with stable codes.
  struct OpenIAPFailure: Error, Hashable {
    static let invalidInput = "INVALID_INPUT"

    let status: HTTPResponse.Status
    let errors: [OpenIAPError]
    var retryAfter: Int?

    init(_ status: HTTPResponse.Status, _ errors: [OpenIAPError], retryAfter: Int? = nil) {
      self.status = status
      self.errors = errors
      self.retryAfter = retryAfter
    }

    init(
      _ status: HTTPResponse.Status, _ code: String, _ message: String, path: String? = nil,
      retryAfter: Int? = nil
    ) {
      self.init(status, [OpenIAPError(code: code, message: message, path: path)], retryAfter: retryAfter)
    }

    static func busy(_ message: String, retryAfter: Int = 1) -> OpenIAPFailure {
      OpenIAPFailure(.serviceUnavailable, "SERVICE_BUSY", message, retryAfter: retryAfter)
    }

    var json: JSONWriter { OpenIAPErrors(errors: errors).json() }
    /// The header fields that only a failure has.
    var fields: HTTPFields { retryAfter.map { [.retryAfter: String($0)] } ?? [:] }

    var response: Response {
      var response = Response.json(json, status: status)
      response.headers.append(contentsOf: fields)
      return response
    }

    /// The failure for any error; the logger reports those that the client did not cause.
    init(for error: any Error, correlation: String, _ logger: Logger) {
      switch error {
      case let failure as OpenIAPFailure: self = failure
      case let refusal as ClientRefusal: self.init(refusal)
      default:
        let problem = Problem(for: error, logger)
        switch problem.status {
        case .contentTooLarge: self.init(.contentTooLarge, "PAYLOAD_TOO_LARGE", problem.detail)
        case .serviceUnavailable: self = .busy(problem.detail, retryAfter: problem.retryAfter ?? 1)
        case .internalServerError:
          self.init(.internalServerError, "UNKNOWN_ERROR", "Unknown error: \(correlation)")
        default: self.init(problem.status, Self.invalidInput, problem.detail, path: problem.place)
        }
      }
    }

    private init(_ refusal: ClientRefusal) {
      switch refusal {
      case .missingKey:
        self.init(.unauthorized, "MISSING_API_KEY", "The request needs Authorization: Bearer pk_…")
      case .unknownKey:
        self.init(.badRequest, "INVALID_API_KEY", "This is no key of this server, or it was revoked.")
      case .missingScope:
        self.init(
          .forbidden, "INSUFFICIENT_SCOPE", "The key has neither the scope \"client\" nor \"verify\".")
      case .secretKeyInURL:
        self.init(.gone, "SECRET_API_KEY_IN_URL", "The URL contains a secret key. Revoke it.")
      case .notServed:
        self.init(.notFound, "NOT_FOUND", "The app of the key does not open this protocol.")
      case .tooManyRequests(let exceeded):
        self.init(
          .tooManyRequests, "RATE_LIMITED", "The address sends too many requests.",
          retryAfter: exceeded.retryAfter)
      }
    }
  }
#endif
