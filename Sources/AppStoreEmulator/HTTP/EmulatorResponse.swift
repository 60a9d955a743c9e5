// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptHTTP

/// A response of the emulator.
public struct EmulatorResponse: Sendable, Hashable {
  /// The status code.
  public var status: Int
  /// Headers, without `Content-Length`.
  public var headers: [HTTPHeader]
  /// The body; empty for none.
  public var body: [UInt8]

  /// Creates a response.
  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A response whose body is JSON.
  public static func json(_ value: JSONValue, status: Int = 200) -> EmulatorResponse {
    EmulatorResponse(
      status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: value.encoded())
  }

  /// A response without a body.
  public static func empty(status: Int = 200) -> EmulatorResponse { EmulatorResponse(status: status) }

  /// A response whose body is text.
  package static func text(_ text: String, status: Int) -> EmulatorResponse {
    EmulatorResponse(
      status: status, headers: [HTTPHeader("Content-Type", "text/plain")], body: Array(text.utf8))
  }

  /// A response whose body is of this media type.
  static func binary(_ body: [UInt8], _ type: String) -> EmulatorResponse {
    EmulatorResponse(status: 200, headers: [HTTPHeader("Content-Type", type)], body: body)
  }

  /// The response in HTTP/1.1 format (RFC 9112).
  ///
  /// - Parameters:
  ///   - contentLength: The value of `Content-Length`; the true length by default.
  ///   - isLast: Whether the connection is closed after it.
  /// - Returns: Status line, headers and body.
  public func serialized(contentLength: Int? = nil, isLast: Bool = false) -> [UInt8] {
    var head = statusLine
    for header in headers { head += "\(header.name): \(header.value)\r\n" }
    // A 204 has neither (RFC 9110 section 8.6).
    if status != 204 { head += "Content-Length: \(contentLength ?? body.count)\r\n" }
    if isLast { head += "Connection: close\r\n" }
    return Array((head + "\r\n").utf8) + body
  }

  var statusLine: String { "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Status")\r\n" }

  private static let reasons = [
    200: "OK", 202: "Accepted", 204: "No Content", 302: "Found", 307: "Temporary Redirect",
    400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
    410: "Gone",
    413: "Content Too Large", 414: "URI Too Long", 417: "Expectation Failed", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 500: "Internal Server Error", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
  ]
}
