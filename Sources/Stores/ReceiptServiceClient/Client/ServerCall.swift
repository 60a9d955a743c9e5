// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptHTTP

/// A call of an operation, apart from how it is sent.
struct ServerCall: Sendable {
  enum Body: Sendable {
    case receipt([UInt8])
    case json([UInt8])
    case object(any ServerObject)
  }

  let operation: String
  let method: RemoteRequest.Method
  let template: String
  let values: [String]
  let query: [(name: String, value: String?)]
  let accept: String
  let body: (contentType: String, bytes: [UInt8])?
  let isIdempotent: Bool
  let isKeyed: Bool

  /// Creates a call. `values` are those of the placeholders in the path, in order. `identifier` is the member of the body
  /// that makes the request idempotent, and the prefix of its value; it is added unless the body has it.
  init(
    _ operation: String, _ method: RemoteRequest.Method, _ template: String, values: [String] = [],
    query: [(String, String?)] = [], accept: String = "application/json", body: Body? = nil,
    isIdempotent: Bool = true, isKeyed: Bool = true, identifier: (member: String, prefix: String)? = nil
  ) {
    self.operation = operation
    self.method = method
    self.template = template
    self.values = values
    self.query = query.map { (name: $0.0, value: $0.1) }
    self.accept = accept
    self.isKeyed = isKeyed
    switch body {
    case nil: self.body = nil
    case .receipt(let bytes): self.body = ("application/octet-stream", bytes)
    case .json(let bytes): self.body = ("application/json", bytes)
    case .object(let object):
      let bytes = identifier.flatMap { Self.identified(object.encodedJSON(), $0) } ?? object.encodedJSON()
      self.body = ("application/json", bytes)
    }
    self.isIdempotent = isIdempotent || identifier != nil
  }

  /// Returns an object with its identifier; `nil` if it has one.
  private static func identified(_ object: [UInt8], _ identifier: (member: String, prefix: String))
    -> [UInt8]?
  {
    guard let value = try? JSONValue(parsing: object), value[identifier.member] == nil,
      let members = value.object
    else { return nil }
    let text = identifier.prefix + Self.randomDigits(32)
    return JSONValue.object(members + [JSONMember(name: identifier.member, value: .string(text))]).encoded()
  }

  /// Returns random hexadecimal digits in lower case.
  static func randomDigits(_ count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return Hexadecimal.encode((0..<count / 2).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }

  /// Returns the URL of the call.
  func url(at base: RemoteURL, app: String?) throws(ReceiptServerError) -> RemoteURL {
    var remaining = values[...]
    var segments: [String] = []
    for segment in template.split(separator: "/") {
      guard segment.hasPrefix("{") else {
        segments.append(String(segment))
        continue
      }
      let value = remaining.popFirst() ?? ""
      // A segment of one or two dots refers to this path or its parent (RFC 3986 section 3.3), encoded or not.
      guard !["", ".", ".."].contains(value) else {
        throw ReceiptServerError(
          .invalid, "\(segment.dropFirst().dropLast()) must not be empty, nor dots alone.",
          operation: operation)
      }
      segments.append(value)
    }
    let stated = query.compactMap { name, value in
      (value ?? (name == "app" ? app : nil)).map { (name: name, value: $0) }
    }
    return base.appending(pathSegments: segments, queryItems: stated)
  }
}
