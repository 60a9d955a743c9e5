// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import Storefront

/// A value of a member that the emulators write.
package protocol JSONConvertible {
  var json: JSONValue { get }
}

extension JSONValue: JSONConvertible { package var json: JSONValue { self } }
extension String: JSONConvertible { package var json: JSONValue { .string(self) } }
extension Bool: JSONConvertible { package var json: JSONValue { .bool(self) } }
extension Int64: JSONConvertible { package var json: JSONValue { .integer(self) } }
extension Int: JSONConvertible { package var json: JSONValue { .integer(Int64(self)) } }
extension Timestamp: JSONConvertible { package var json: JSONValue { .integer(Int64(wholeMilliseconds)) } }
extension Array: JSONConvertible where Element: JSONConvertible {
  package var json: JSONValue { .array(map(\.json)) }
}

/// The members of an object, in order, without those that have no value.
///
/// The emulator does not use the client's types for JSON. A misspelled name in them would be the same on both sides and
/// pass every test.
package struct JSONMembers: ExpressibleByDictionaryLiteral, JSONConvertible, Sendable {
  package private(set) var members: [JSONMember]

  package init(_ members: [JSONMember] = []) { self.members = members }

  package init(dictionaryLiteral elements: (String, (any JSONConvertible)?)...) {
    members = elements.compactMap { name, value in value.map { JSONMember(name: name, value: $0.json) } }
  }

  package var json: JSONValue { .object(members) }

  package func encoded() -> [UInt8] { json.encoded() }

  package static func += (left: inout JSONMembers, right: JSONMembers) { left.members += right.members }

  package static func + (left: JSONMembers, right: JSONMembers) -> JSONMembers {
    JSONMembers(left.members + right.members)
  }
}

extension JSONMembers {
  /// An attempt to send a notification, as Apple writes it.
  init(_ attempt: DeliveryRecord.Attempt) {
    self = ["attemptDate": attempt.attemptDate, "sendAttemptResult": attempt.sendAttemptResult]
  }
}

extension JSONValue {
  package var flag: Bool? {
    guard case .bool(let flag) = self else { return nil }
    return flag
  }

  /// The string as a UUID in lower case; `nil` if it is not a UUID.
  var uuid: String? { string.flatMap { UUIDString(rawValue: $0).canonical?.rawValue } }
}

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
