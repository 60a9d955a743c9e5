// SPDX-License-Identifier: Apache-2.0

/// An absolute `https` or `http` URL (RFC 3986), split into the parts that requests and redirects are checked by.
///
/// Plain `http` is refused, except to this machine or if the caller allows it explicitly.
public struct RemoteURL: Sendable, Hashable, CustomStringConvertible {
  /// `true` if the scheme is `https`.
  public let isSecure: Bool
  /// The host name or address in lower case; an IPv6 address without its brackets.
  public let host: String
  /// The port; 443 or 80 if the URL names none.
  public let port: Int
  /// The path, percent-encoded as given; it begins with a slash unless it is empty.
  public let path: String
  /// The query, percent-encoded, without the question mark; `nil` if there is no question mark.
  public var query: String?

  /// Parses a URL.
  ///
  /// - Parameters:
  ///   - text: An absolute URL without user name, password and fragment.
  ///   - allowsPlainHTTP: `true` accepts `http` for any host. By default it is accepted only for `localhost`,
  ///     `127.0.0.0/8` and `::1`.
  /// - Throws: ``Failure`` if the text is not such a URL.
  public init(_ text: String, allowsPlainHTTP: Bool = false) throws(Failure) {
    guard text.utf8.count <= 4096, text.utf8.allSatisfy({ 0x21..<0x7F ~= $0 && $0 != 0x5C }) else {
      throw Failure(description: "A URL has at most 4096 printable ASCII characters and no backslash.")
    }
    // Messages end up in logs.
    var shown: String { Self.withoutSecrets(text) }
    guard let separator = text.firstRange(of: "://") else {
      throw Failure(description: "\"\(shown)\" is not an absolute URL; it begins with https://.")
    }
    switch text[..<separator.lowerBound].lowercased() {
    case "https": isSecure = true
    case "http": isSecure = false
    default: throw Failure(description: "The scheme of \"\(shown)\" is not https.")
    }
    let rest = text[separator.upperBound...]
    guard !rest.contains("#") else { throw Failure(description: "\"\(shown)\" has a fragment.") }
    let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = rest[..<authorityEnd]
    guard !authority.contains("@") else {
      throw Failure(description: "The URL has a user name or password; credentials are passed apart.")
    }
    (host, port) = try Self.hostAndPort(authority, defaultPort: isSecure ? 443 : 80, of: text)
    let target = rest[authorityEnd...]
    if let mark = target.firstIndex(of: "?") {
      path = String(target[..<mark])
      query = String(target[target.index(after: mark)...])
    } else {
      path = String(target)
      query = nil
    }
    guard isSecure || allowsPlainHTTP || isLoopback else {
      throw Failure(
        description: "\"\(shown)\" is not encrypted. Use https, or allow plain HTTP by name (receipt-tool: "
          + "--allow-plain-http).")
    }
  }

  /// Returns the text of a URL for logs, messages and pages, without parts that may be secret. These are the query, the
  /// fragment, the user name and the password. The text need not be a valid URL.
  package static func withoutSecrets(_ text: String) -> String {
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    let (scheme, rest) = (text[..<start], text[start...])
    let shown = rest.prefix { $0 != "?" && $0 != "#" }
    if let sign = shown.lastIndex(of: "@") { return "\(scheme)…@\(shown[shown.index(after: sign)...])" }
    // A password may contain a question mark.
    let isCutWithin = !shown.contains("/") && rest[shown.endIndex...].contains("@")
    return isCutWithin ? "\(scheme)…" : "\(scheme)\(shown)"
  }

  /// Creates the `https` URL of a host without a path, for names that are compiled in.
  package init(secureHost host: String) {
    isSecure = true
    self.host = host
    port = 443
    path = ""
    query = nil
  }

  private init(_ base: RemoteURL, path: String, query: String?) {
    isSecure = base.isSecure
    host = base.host
    port = base.port
    self.path = path
    self.query = query
  }

  /// Returns this URL with path segments appended and a new query.
  package func appending(pathSegments: [String], queryItems: [(name: String, value: String)] = [])
    -> RemoteURL
  {
    appending(encodedSegments: pathSegments.map(PercentEncoding.encode), queryItems: queryItems)
  }

  /// Returns this URL with path segments that are already percent-encoded, and a new query.
  package func appending(
    encodedSegments: [String], queryItems: [(name: String, value: String)] = []
  ) -> RemoteURL {
    var path = self.path
    while path.hasSuffix("/") { path.removeLast() }
    for segment in encodedSegments { path += "/" + segment }
    let query = queryItems.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
    return RemoteURL(self, path: path, query: query.isEmpty ? nil : query.joined(separator: "&"))
  }

  /// Returns the URL that a `Location` header names (RFC 9110 section 10.2.2): an absolute URL, or a path on this host.
  ///
  /// - Throws: ``Failure`` if it is neither, or if it leads from `https` to an unencrypted URL.
  package func resolving(location: String) throws(Failure) -> RemoteURL {
    if location.hasPrefix("/"), !location.hasPrefix("//") {
      let scheme = isSecure ? "https" : "http"
      return try RemoteURL("\(scheme)://\(authority)\(location)", allowsPlainHTTP: !isSecure)
    }
    return try RemoteURL(location, allowsPlainHTTP: !isSecure)
  }

  /// Returns `true` if both have the same scheme, host and port.
  package func hasSameOrigin(as other: RemoteURL) -> Bool {
    isSecure == other.isSecure && host == other.host && port == other.port
  }

  /// `true` if the host is this machine: `localhost`, `127.0.0.0/8` or `::1`.
  package var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// The host, with the port unless it is the scheme's default.
  package var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// The path and query for the request line; at least a slash.
  package var target: String { (path.isEmpty ? "/" : path) + (query.map { "?\($0)" } ?? "") }

  /// The URL as text.
  public var description: String { "\(isSecure ? "https" : "http")://\(authority)\(target)" }

  private static func hostAndPort(
    _ authority: Substring, defaultPort: Int, of text: String
  ) throws(Failure) -> (host: String, port: Int) {
    var shown: String { withoutSecrets(text) }
    var host = authority
    var portText: Substring = ""
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else {
        throw Failure(description: "The address in \"\(shown)\" has no closing bracket.")
      }
      host = authority[authority.index(after: authority.startIndex)..<end]
      portText = authority[authority.index(after: end)...]
      guard host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }),
        portText.isEmpty || portText.hasPrefix(":")
      else { throw Failure(description: "\"\(shown)\" has no IPv6 address in its brackets.") }
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      portText = authority[colon...]
    }
    let isName =
      authority.hasPrefix("[")
      || host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
    guard !host.isEmpty, isName else {
      throw Failure(description: "\"\(shown)\" names neither a host nor an address.")
    }
    guard !portText.isEmpty else { return (host.lowercased(), defaultPort) }
    // `UInt16` alone would accept a sign.
    let digits = portText.dropFirst()
    guard digits.allSatisfy(\.isNumber), let port = UInt16(digits), port > 0 else {
      throw Failure(description: "\"\(shown)\" names no port from 1 to 65535.")
    }
    return (host.lowercased(), Int(port))
  }
}

/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentEncoding {
  /// Encodes every character except the unreserved ones.
  package static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(byte)
      default:
        let digits = Array("0123456789ABCDEF".utf8)
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
