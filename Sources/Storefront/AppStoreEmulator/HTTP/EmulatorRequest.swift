// SPDX-License-Identifier: Apache-2.0

extension EmulatorRequest {
  /// Creates a request from a request target such as `/inApps/v1/transactions/1?a=b`, or from an absolute URL (RFC
  /// 9112 section 3.2).
  package init(_ method: String, target: String, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    let target = Self.originForm(target)
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(
      method: method, target: target,
      path: (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: true).map {
        Self.decode($0, plusIsSpace: false)
      },
      query: (parts.count > 1 ? parts[1] : "").split(separator: "&").map { item in
        let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return QueryItem(
          name: Self.decode(sides[0], plusIsSpace: true),
          value: sides.count > 1 ? Self.decode(sides[1], plusIsSpace: true) : "")
      }, headers: headers, body: body)
  }

  /// A request of a client in the same process.
  package init(_ request: RemoteRequest) {
    self.init(
      request.method.rawValue, target: request.url.target, headers: request.headers, body: request.body ?? [])
  }

  /// The value of the first query item of this name.
  package func value(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The value of the first header of this name, in any case.
  package func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }

  /// The token in `Authorization: Bearer` (RFC 6750 section 2.1).
  package var bearerToken: String? {
    guard let authorization = header("Authorization"), authorization.lowercased().hasPrefix("bearer ") else {
      return nil
    }
    return String(authorization.dropFirst("Bearer ".count))
  }

  /// The path and query of a target in absolute form. Any other target is returned unchanged (RFC 9112 section 3.2.2).
  private static func originForm(_ target: String) -> String {
    guard let scheme = ["http://", "https://"].first(where: { target.lowercased().hasPrefix($0) }) else {
      return target
    }
    let rest = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
    return rest.hasPrefix("/") ? String(rest) : "/" + rest
  }

  /// Decodes percent-encoding (RFC 3986 section 2.1). Invalid escapes are kept.
  static func decode(_ text: Substring, plusIsSpace: Bool) -> String {
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
      {
        decoded.append(byte)
        index += 3
      } else {
        let isSpace = plusIsSpace && bytes[index] == UInt8(ascii: "+")
        decoded.append(isSpace ? UInt8(ascii: " ") : bytes[index])
        index += 1
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }
}
