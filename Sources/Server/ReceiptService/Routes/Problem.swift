// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging
  internal import NIOCore
  internal import NIOHTTP1
  internal import ReceiptBytes
  internal import ReceiptCodec

  extension Problem {
    static let unauthorized = Problem(
      .unauthorized, "unauthorized",
      "The request needs a key of this server: Authorization: Bearer rk_…")
    static func forbidden(_ scope: Scope) -> Problem {
      Problem(.forbidden, "missing-scope", "The key has no scope \"\(scope.rawValue)\".")
    }
    static let notFound = Problem(
      .notFound, "not-found", "There is no such thing, or the key may not see it.")
    static func unavailable(_ detail: String) -> Problem {
      Problem(.serviceUnavailable, "unavailable", detail, retryAfter: 1)
    }
    static func invalid(_ place: String, _ detail: String) -> Problem {
      Problem(.badRequest, "invalid-request", detail, at: place)
    }

    var response: Response {
      var headers: HTTPFields = [.contentType: "application/problem+json"]
      if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
      // RFC 9110 section 15.5.16.
      if status == .unsupportedMediaType { headers[.acceptEncoding] = "identity" }
      if let retryAfter { headers[.retryAfter] = String(retryAfter) }
      return Response(
        status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.bytes)))
    }

    var json: JSONWriter {
      ProblemDetails(
        title: status.reasonPhrase, status: Int64(status.code), code: code,
        detail: ShownText.plain(detail, limit: 1000), place: place.map { ShownText.plain($0, limit: 200) },
        entry: entry
      ).json()
    }

    /// The problem details for an error; the logger reports those that the client did not cause.
    init(for error: any Error, _ logger: Logger) {
      switch error {
      case let problem as Problem:
        self = problem
      case let error as HTTPError where error.status == .notFound:
        self = .notFound
      case let error as HTTPError:
        self.init(error.status, "invalid-request", error.body ?? error.status.reasonPhrase)
      case is HTTPParserError:
        // This error was found while the body was read. Further input on the connection is not read.
        self.init(.badRequest, "invalid-request", "The body is not framed as HTTP/1.1 demands.")
      case let error as DatabaseError:
        logger.error("The database failed.", metadata: ["error": "\(error)"])
        self = .unavailable("The database of the service cannot be used now. Try again.")
      case is AuditError, is StorageError:
        logger.error("The audit trail failed.", metadata: ["error": "\(error)"])
        self = .unavailable("The audit trail cannot be used now. Try again.")
      case is IOError, is ChannelError:
        // The client has disconnected, so the response is not read, and the server is not at fault.
        self.init(.badRequest, "invalid-request", "The connection ended before the request did.")
      case is CancellationError:
        self = .unavailable("The service is shutting down. Try again.")
      default:
        logger.error("A request failed.", metadata: ["error": "\(error)"])
        self.init(.internalServerError, "internal-fault", "The request failed; the log says why.")
      }
    }
  }

  extension Response {
    static func text(_ text: String) -> Response {
      Response(
        status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Creates a response with a JSON object.
    static func json(_ object: JSONWriter, status: HTTPResponse.Status = .ok) -> Response {
      Response(
        status: status, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: object.bytes)))
    }
  }
#endif
