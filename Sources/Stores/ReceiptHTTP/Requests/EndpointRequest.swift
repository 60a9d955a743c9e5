// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The endpoints of an API: each is its method and its path, in which braces stand for what each call fills in. The
/// enumerations come from the tables in `WireTypes/`.
package protocol WireEndpoint: RawRepresentable<String>, Sendable {
  /// Whether sending the request twice has the effect of sending it once.
  var isIdempotent: Bool { get }
}

extension WireEndpoint {
  /// The method.
  package var method: RemoteRequest.Method {
    RemoteRequest.Method(rawValue: String(rawValue.prefix { $0 != " " })) ?? .get
  }

  /// The path; what stands in braces is filled in for each call.
  package var path: String { String(rawValue.drop { $0 != "/" }) }
}

/// The parameters of a call.
package struct EndpointRequest: Sendable {
  /// What the braces of the path stand for, in order.
  package let pathValues: [String]
  /// Names and values, not encoded.
  package var query: [(name: String, value: String)] = []
  package private(set) var body: (contentType: String, bytes: [UInt8])?
  package var limits = RequestLimits()

  package init(_ pathValues: String...) { self.pathValues = pathValues }

  /// With a JSON body, checked against its limits.
  package init(_ pathValues: String..., json: some WireRequest) {
    self.pathValues = pathValues
    body = ("application/json", json.encodedJSON())
    json.checkFields(&limits, at: "$")
    json.checkRules(&limits)
  }

  /// Makes a PNG file the body.
  package mutating func setPNG(_ png: [UInt8]) {
    body = ("image/png", png)
    // The signature of PNG (RFC 2083 section 3.1).
    limits.require(
      png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), at: "body",
      "It must be a PNG file.")
  }

  /// The URL of the call.
  ///
  /// - Throws: `RequestLimits.Violation` where a value would make another path, or a limit is broken.
  package func url(
    of endpoint: some WireEndpoint, at base: RemoteURL
  ) throws(RequestLimits.Violation) -> RemoteURL {
    var limits = limits
    var remaining = pathValues[...]
    let segments = endpoint.path.split(separator: "/").map { segment in
      guard segment.hasPrefix("{"), let end = segment.firstIndex(of: "}") else { return String(segment) }
      let value = remaining.popFirst() ?? ""
      // Dots alone mean this path or the one above it (RFC 3986 section 3.3), encoded or not.
      limits.require(
        !["", ".", ".."].contains(value), at: String(segment[..<end].dropFirst()),
        "It must not be empty, nor dots alone.")
      // What follows the brace is part of the path, such as a custom method after a colon.
      return PercentEncoding.encode(value) + segment[segment.index(after: end)...]
    }
    if let violation = limits.violation { throw violation }
    return base.appending(encodedSegments: segments, queryItems: query)
  }

  /// The request of one attempt.
  package func request(
    _ method: RemoteRequest.Method, _ url: RemoteURL, headers: [HTTPHeader]
  ) -> RemoteRequest {
    var headers = headers + [HTTPHeader("Accept", "application/json"), UserAgent.header]
    if let body { headers.append(HTTPHeader("Content-Type", body.contentType)) }
    return RemoteRequest(method, url, headers: headers, body: body?.bytes)
  }
}

/// The answer of an endpoint that answers without content.
public struct NoContent: Sendable, Hashable {
  package init() {}
}
