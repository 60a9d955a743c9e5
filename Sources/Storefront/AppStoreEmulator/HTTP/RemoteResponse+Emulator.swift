// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension RemoteResponse {
  /// A response whose body has this media type.
  private init(_ type: String, _ body: [UInt8], status: Int = 200) {
    self.init(status: status, headers: [HTTPHeader("Content-Type", type)], body: body)
  }

  package static func json(_ value: JSONValue, status: Int = 200) -> RemoteResponse {
    RemoteResponse("application/json", value.encoded(), status: status)
  }

  package static func json(_ members: JSONMembers, status: Int = 200) -> RemoteResponse {
    .json(members.json, status: status)
  }

  package static func empty(status: Int = 200) -> RemoteResponse { RemoteResponse(status: status) }

  package static func text(_ text: String, status: Int) -> RemoteResponse {
    RemoteResponse("text/plain", Array(text.utf8), status: status)
  }

  /// A response whose body has this media type.
  static func binary(_ body: [UInt8], _ type: String) -> RemoteResponse { RemoteResponse(type, body) }

  /// The response in HTTP/1.1 format (RFC 9112).
  ///
  /// - Returns: Status line, headers and body.
  package func serialized(contentLength: Int? = nil, isLast: Bool = false) -> [UInt8] {
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
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    409: "Conflict", 410: "Gone", 413: "Content Too Large", 414: "URI Too Long", 417: "Expectation Failed",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
  ]
}
