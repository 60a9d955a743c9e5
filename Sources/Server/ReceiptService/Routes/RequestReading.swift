// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Foundation
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

  extension Request {
    /// A parameter of the query; `nil` if it is absent or empty.
    func queryParameter(_ name: String) throws -> String? {
      guard uri.query != nil else { return nil }
      let values = uri.queryParameters.filter { $0.key == name[...] }
      guard values.count < 2 else { throw Problem.invalid(name, "The parameter is there more than once.") }
      guard let value = values.first?.value, !value.isEmpty else { return nil }
      return String(value)
    }

    /// The maximum number of elements of the answer.
    var limit: Int { get throws { Int(try integerParameter("limit", 1...1000, default: 100)) } }

    func integerParameter(
      _ name: String, _ range: ClosedRange<Int64>, default fallback: Int64
    ) throws -> Int64 {
      guard let text = try queryParameter(name) else { return fallback }
      guard let number = Int64(text), range ~= number else {
        throw Problem.invalid(name, "It takes a number from \(range.lowerBound) to \(range.upperBound).")
      }
      return number
    }
  }

  extension Request {
    /// Returns `true` if the field `Accept` (RFC 9110 section 12.5.1) names a media type, and does not prefer another.
    func prefers(_ type: String, to other: String) -> Bool {
      let (wanted, rival) = (weight(of: type), weight(of: other))
      return wanted > 0 && wanted >= rival
    }

    /// The weight of a media type that `Accept` names, in thousandths; 0 if it is not named.
    private func weight(of type: String) -> Int {
      let ranges = headers[values: .accept].flatMap { $0.split(separator: ",") }
      return ranges.lazy.compactMap { range -> Int? in
        let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        guard parts.first == type else { return nil }
        guard let weight = parts.first(where: { $0.hasPrefix("q=") })?.dropFirst(2) else { return 1000 }
        return Double(weight).map { Int($0 * 1000) } ?? 0
      }.max() ?? 0
    }
  }

  extension ServiceContext {
    /// A parameter of the path, percent-decoded.
    func pathParameter(_ name: String) throws -> String {
      guard let value = parameters.get(name), let text = value.removingPercentEncoding, !text.isEmpty,
        text.utf8.count <= 4096
      else { throw Problem.invalid(name, "It is empty, too long, or not percent-encoded UTF-8.") }
      return text
    }

    /// A parameter of the path that is the index of something; anything but an index names nothing.
    func indexParameter(_ name: String) throws -> UInt64 {
      guard let index = parameters.get(name).flatMap({ UInt64($0) }) else { throw Problem.notFound }
      return index
    }
  }
#endif
