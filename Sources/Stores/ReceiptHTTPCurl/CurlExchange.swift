// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import ReceiptHTTP

/// A request under way. Once it is started, only the loop's thread uses libcurl's part of it.
@safe
final class CurlExchange: @unchecked Sendable {
  typealias Outcome = Result<RemoteResponse, HTTPTransportError>

  let outcome = FirstResult<Outcome>()
  let exchange: OpaquePointer
  private let limit: Int
  private let timeout: Duration

  /// Creates an exchange; `nil` if a header contains a control character such as a line end, or memory runs out.
  init?(_ request: RemoteRequest, certificateAuthorities: String?) {
    let lines = request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    guard lines.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else { return nil }
    let components = request.timeout.components
    let milliseconds = max(
      1, min(components.seconds, 86_400) * 1000 + components.attoseconds / 1_000_000_000_000_000)
    let made = unsafe Self.withCStrings(lines[...], []) { pointers in
      unsafe pointers.withUnsafeBufferPointer { headers in
        unsafe CCurl_exchange_create(
          request.method.rawValue, request.url.description, headers.baseAddress, headers.count, request.body,
          request.body?.count ?? 0, request.maximumResponseByteCount, Int(milliseconds),
          certificateAuthorities)
      }
    }
    guard let made = unsafe made else { return nil }
    unsafe exchange = made
    limit = request.maximumResponseByteCount
    timeout = request.timeout
  }

  deinit { unsafe CCurl_exchange_free(exchange) }

  private static func withCStrings<Value>(
    _ texts: ArraySlice<String>, _ pointers: [UnsafePointer<CChar>?],
    _ body: ([UnsafePointer<CChar>?]) -> Value
  ) -> Value {
    guard let first = texts.first else { return unsafe body(pointers) }
    return unsafe first.withCString { unsafe withCStrings(texts.dropFirst(), pointers + [$0], body) }
  }

  func fail(_ code: HTTPTransportError.Code, _ message: String) {
    outcome.deliver(.failure(HTTPTransportError(code, message)))
  }

  func end(result: Int32) {
    if result == 0 { return succeed() }
    if unsafe CCurl_exchange_is_too_large(exchange) != 0 || result == CurlResult.fileSizeExceeded {
      return fail(.tooLarge, "The response has more than the \(limit) bytes that are read.")
    }
    let message =
      unsafe CCurl_message(result).map { unsafe String(cString: $0) } ?? "libcurl's error \(result)"
    if result == CurlResult.operationTimedOut {
      return fail(.timedOut, "No complete response within \(timeout).")
    }
    fail(CurlResult.code(of: result), "\(message).")
  }

  private func succeed() {
    var length = 0
    let bodyStart = unsafe CCurl_exchange_body(exchange, &length)
    let body = unsafe Array(UnsafeBufferPointer(start: bodyStart, count: length))
    let headStart = unsafe CCurl_exchange_head(exchange, &length)
    let head = unsafe Array(UnsafeBufferPointer(start: headStart, count: length))
    // libcurl treats a connection that ends within the headers as a response without a body.
    guard head.suffix(2) == [0x0A, 0x0A] || head.suffix(3) == [0x0A, 0x0D, 0x0A] else {
      return fail(.connectionLost, "The connection ended within the headers.")
    }
    let status = unsafe CCurl_exchange_status(exchange)
    guard 100...999 ~= status else { return fail(.invalidResponse, "The server did not answer with HTTP.") }
    outcome.deliver(.success(RemoteResponse(status: status, headers: Self.headers(head), body: body)))
  }

  private static func headers(_ head: [UInt8]) -> [HTTPHeader] {
    head.split(separator: 0x0A).dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      let value = line[(colon + 1)...].drop(while: isSpace)
      let end = value.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? value.startIndex
      return HTTPHeader(
        String(decoding: line[..<colon], as: UTF8.self), String(decoding: value[..<end], as: UTF8.self))
    }
  }
}

/// The results of libcurl (`CURLcode`).
enum CurlResult {
  static let operationTimedOut: Int32 = 28
  static let fileSizeExceeded: Int32 = 63

  static func code(of result: Int32) -> HTTPTransportError.Code {
    switch result {
    // The proxy's or the host's name could not be resolved, or the connection failed.
    case 5, 6, 7: .cannotConnect
    // The TLS handshake, a certificate or the trust store failed.
    case 35, 51, 53, 54, 58, 59, 60, 66, 77, 80, 82, 83, 90, 91: .insecure
    // An unsupported protocol, a strange reply, or a bad encoding.
    case 1, 8, 61: .invalidResponse
    case 2, 3, 4, 27, 43, 48: .unusable
    default: .connectionLost
    }
  }
}
