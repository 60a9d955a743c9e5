// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptCodec

  /// Reads the bodies of requests for a single receipt or object, up to a limit.
  struct BodyReader: Sendable {
    let maximumByteCount: Int

    var tooLarge: Problem {
      Problem(.contentTooLarge, "too-large", "The body has more than \(maximumByteCount) bytes.")
    }

    /// - Throws: ``Problem`` if the header announces a body that is too large.
    func requireLength(_ request: Request) throws {
      let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
      guard length <= maximumByteCount else { throw tooLarge }
    }

    /// The body of a request.
    func bytes(of request: Request) async throws -> [UInt8] {
      try requireLength(request)
      do {
        let body = try await request.body.collect(upTo: maximumByteCount)
        return body.getBytes(at: body.readerIndex, length: body.readableBytes) ?? []
      } catch is NIOTooManyBytesError {
        throw tooLarge
      }
    }

    /// The body of a request that must be the content itself and not a form that contains it.
    func content(of request: Request) async throws -> [UInt8] {
      if let problem = ReceiptContent.problem(request.headers) { throw problem }
      let body = try await bytes(of: request)
      if let problem = ReceiptContent.problem(request.headers, body: body) { throw problem }
      return body
    }

    /// The body of a request that must be a JSON object.
    func object(of request: Request) async throws -> JSONValue {
      let bytes = try await content(of: request)
      do throws(MalformedReceipt) {
        let value = try JSONValue(parsing: bytes)
        guard value.object != nil else {
          throw MalformedReceipt(.wrongType, at: .jsonPath("$"), "It is no object.")
        }
        return value
      } catch {
        throw Problem.invalid("body", "The body is no JSON object: \(error)")
      }
    }
  }
#endif
