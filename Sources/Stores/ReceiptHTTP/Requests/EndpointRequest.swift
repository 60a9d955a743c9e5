// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// An endpoint of an API: its method and its path. Braces in the path are placeholders for the values of a call. The
/// enumerations are generated from the tables in `WireTypes/`.
package protocol WireEndpoint: RawRepresentable<String>, Sendable {
  /// `true` if sending the request twice has the same effect as sending it once.
  var isIdempotent: Bool { get }
}

extension WireEndpoint {
  package var method: RemoteRequest.Method {
    RemoteRequest.Method(rawValue: String(rawValue.prefix { $0 != " " })) ?? .get
  }

  /// The path, with placeholders in braces.
  package var path: String { String(rawValue.drop { $0 != "/" }) }
}

/// The parameters of a call.
package struct EndpointRequest: Sendable {
  /// The values of the path's placeholders, in order.
  package let pathValues: [String]
  /// The names and values of the query, not encoded.
  package var query: [(name: String, value: String)] = []
  package private(set) var body: (contentType: String, bytes: [UInt8])?
  package var limits = RequestLimits()

  package init(_ pathValues: String...) { self.pathValues = pathValues }

  /// Creates parameters with a JSON body, which is checked against its limits.
  package init(_ pathValues: String..., json: some WireRequest) {
    self.pathValues = pathValues
    body = ("application/json", json.encodedJSON())
    json.checkFields(&limits, at: "$")
    json.checkRules(&limits)
  }

  /// Sets the body to a PNG file.
  package mutating func setPNG(_ png: [UInt8]) {
    body = ("image/png", png)
    // The signature of PNG (RFC 2083 section 3.1).
    limits.require(
      png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), at: "body",
      "It must be a PNG file.")
  }

  /// Returns the URL of the call.
  ///
  /// - Throws: `RequestLimits.Violation` if a value would change the path's structure, or if the request breaks a
  ///   limit.
  package func url(
    of endpoint: some WireEndpoint, at base: RemoteURL
  ) throws(RequestLimits.Violation) -> RemoteURL {
    var limits = limits
    var remaining = pathValues[...]
    let segments = endpoint.path.split(separator: "/").map { segment in
      guard segment.hasPrefix("{"), let end = segment.firstIndex(of: "}") else { return String(segment) }
      let value = remaining.popFirst() ?? ""
      // A segment of one or two dots refers to this path or its parent (RFC 3986 section 3.3), encoded or not.
      limits.require(
        !["", ".", ".."].contains(value), at: String(segment[..<end].dropFirst()),
        "It must not be empty, nor dots alone.")
      // The rest of the segment, such as a custom method after a colon, is part of the path.
      return PercentEncoding.encode(value) + segment[segment.index(after: end)...]
    }
    if let violation = limits.violation { throw violation }
    return base.appending(encodedSegments: segments, queryItems: query)
  }

  /// Returns the request for one attempt.
  package func request(
    _ method: RemoteRequest.Method, _ url: RemoteURL, headers: [HTTPHeader]
  ) -> RemoteRequest {
    var headers = headers + [HTTPHeader("Accept", "application/json"), UserAgent.header]
    if let body { headers.append(HTTPHeader("Content-Type", body.contentType)) }
    return RemoteRequest(method, url, headers: headers, body: body?.bytes)
  }
}

/// The response of an endpoint that returns no content.
public struct NoContent: Sendable, Hashable {
  package init() {}
}

/// The body of a request, checked against documented limits before it is sent. The types, and the checks of single
/// fields, are generated from the tables in `WireTypes/`.
package protocol WireRequest: JSONObject, Sendable {
  /// Checks each field, and the fields of nested objects.
  func checkFields(_ limits: inout RequestLimits, at place: String)
  /// Checks the rules that involve several fields.
  func checkRules(_ limits: inout RequestLimits)
}

extension WireRequest {
  package func checkFields(_ limits: inout RequestLimits, at place: String) {}
  package func checkRules(_ limits: inout RequestLimits) {}
}

/// Collects the first documented limit that a request breaks.
package struct RequestLimits: Sendable {
  package private(set) var violation: Violation?

  package init() {}

  package mutating func require(_ isMet: Bool, at place: String, _ message: @autoclosure () -> String) {
    if !isMet, violation == nil { violation = Violation(place: place, message: message()) }
  }

  package mutating func requireUUID(_ text: UUIDString?, at place: String) {
    require(text?.isUUID ?? true, at: place, "It must be a UUID.")
  }

  package mutating func requireUUIDOrEmpty(_ text: UUIDString?, at place: String) {
    if text?.rawValue.isEmpty == false { requireUUID(text, at: place) }
  }

  package mutating func requireCount(_ text: String?, atMost limit: Int, at place: String) {
    let count = text?.count ?? 0
    require(count <= limit, at: place, "It has \(count) characters; at most \(limit) are allowed.")
  }

  package mutating func requireCount<Element>(_ elements: [Element]?, atMost limit: Int, at place: String) {
    let count = elements?.count ?? 0
    require(count <= limit, at: place, "There are \(count); at most \(limit) are allowed.")
  }

  package mutating func requireValue(_ value: Int64?, in range: ClosedRange<Int64>, at place: String) {
    guard let value else { return }
    require(
      range.contains(value), at: place,
      "It must be \(range.lowerBound) to \(range.upperBound), not \(value).")
  }

  package mutating func requireDistinct(_ texts: [String]?, at place: String) {
    require(texts.map { Set($0).count == $0.count } ?? true, at: place, "No two may be equal.")
  }

  package mutating func requireIdentifier(_ text: String?, atMost limit: Int, at place: String) {
    let isIdentifier =
      text.map { text in
        1...limit ~= text.utf8.count
          && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || ["_", "-"].contains($0) }
      } ?? true
    require(isIdentifier, at: place, "It must be 1 to \(limit) ASCII letters, digits, _ and -.")
  }

  package mutating func requireNotEmpty(_ text: String?, at place: String) {
    require(text?.isEmpty != true, at: place, "It must not be empty.")
  }

  package mutating func requireNotEmpty<Element>(_ elements: [Element]?, at place: String) {
    require(elements?.isEmpty != true, at: place, "It must not be empty.")
  }
}
