// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A call of the App Store Server API, complete but for the token.
struct AppStoreServerCall: Sendable {
  enum Body: Sendable {
    case json([UInt8])
    case png([UInt8])

    var bytes: [UInt8] {
      switch self {
      case .json(let bytes), .png(let bytes): bytes
      }
    }

    var contentType: String {
      switch self {
      case .json: "application/json"
      case .png: "image/png"
      }
    }
  }

  let endpoint: AppStoreServerEndpoint
  /// The segments of the path, not encoded.
  let path: [String]
  let query: [(name: String, value: String)]
  let body: Body?

  /// Creates a call.
  ///
  /// - Parameters:
  ///   - endpoint: Says method and path.
  ///   - pathValues: What the braces of the path stand for, in order.
  ///   - query: Names and values, not encoded.
  ///   - body: The body.
  /// - Throws: ``AppStoreServerError`` where a value would make another path.
  init(
    _ endpoint: AppStoreServerEndpoint, _ pathValues: String..., query: [(name: String, value: String)] = [],
    body: Body? = nil
  ) throws(AppStoreServerError) {
    self.endpoint = endpoint
    self.query = query
    self.body = body
    var remaining = pathValues[...]
    var path: [String] = []
    for segment in endpoint.route.path.split(separator: "/") {
      guard segment.hasPrefix("{") else {
        path.append(String(segment))
        continue
      }
      let name = String(segment.dropFirst().dropLast())
      // Dots alone mean this path or the one above it (RFC 3986 section 3.3), encoded or not.
      guard let value = remaining.popFirst(), !value.isEmpty, value != ".", value != ".." else {
        throw AppStoreServerError(
          endpoint, attempts: 0,
          .invalidRequest(place: name, message: "It must not be empty, nor dots alone."))
      }
      path.append(value)
    }
    self.path = path
  }
}
