// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptHTTP
import Testing

/// Which URLs are accepted, and what they are taken apart into.
@Suite struct RemoteURLTests {
  @Test("a URL is parsed")
  func parts() throws {
    let url = try RemoteURL("HTTPS://API.Example.com:8443/a%20b/c?x=1&y=%3F")
    #expect(url.isSecure)
    #expect(url.host == "api.example.com")
    #expect(url.port == 8443)
    #expect(url.path == "/a%20b/c")
    #expect(url.query == "x=1&y=%3F")
    #expect(url.target == "/a%20b/c?x=1&y=%3F")
    #expect(url.description == "https://api.example.com:8443/a%20b/c?x=1&y=%3F")
    #expect(try RemoteURL("https://example.com").target == "/")
    #expect(try RemoteURL("https://example.com?a").target == "/?a")
    #expect(try RemoteURL("https://example.com:443").authority == "example.com")
    #expect(try RemoteURL("https://[2001:DB8::1]:8443/").authority == "[2001:db8::1]:8443")
  }

  @Test(
    "plain HTTP is allowed only to this machine",
    arguments: [
      ("http://localhost", true), ("http://LOCALHOST:8080/x", true), ("http://127.0.0.1", true),
      ("http://127.255.0.9:1", true), ("http://[::1]:8080", true), ("http://example.com", false),
      ("http://localhost.example.com", false), ("http://127.0.0.1.example.com", false),
      ("http://127.1", false), ("http://128.0.0.1", false), ("http://0.0.0.0", false),
      ("http://[::2]", false), ("http://[::ffff:127.0.0.1]", false), ("http://127.0.0.256", false),
    ])
  func plainHTTP(text: String, isAccepted: Bool) throws {
    #expect(((try? RemoteURL(text)) != nil) == isAccepted)
    #expect(try RemoteURL(text, allowsPlainHTTP: true).isSecure == false)
  }

  @Test(
    "anything but a URL, and URLs with forbidden parts, are refused",
    arguments: [
      "", "example.com", "//example.com", "ftp://example.com", "file:///etc/passwd", "https://",
      "https:///x", "https://:443", "https://user@example.com", "https://user:secret@example.com",
      "https://example.com/#a", "https://example.com/a b", "https://example.com/\r\nX: y",
      "https://example.com\\@evil.example", "https://exämple.com", "https://example.com:0",
      "https://example.com:65536", "https://example.com:", "https://example.com:+1", "https://[::1",
      "https://[::1]x", "https://[zz]", "https://exa%6Dple.com", "https://example.com:443:443",
      "https://\(String(repeating: "a", count: 4096))",
    ])
  func refused(text: String) {
    #expect(throws: RemoteURL.Failure.self) { try RemoteURL(text, allowsPlainHTTP: true) }
  }

  @Test("a refusal does not repeat credentials")
  func credentials() {
    #expect {
      try RemoteURL("https://user:hunter2@example.com")
    } throws: { !"\($0)".contains("hunter2") && "\($0)".contains("user name") }
  }

  @Test(
    "no refusal repeats what may be a secret",
    arguments: [
      "ftp://example.com/hooks?token=hunter2", "example.com/hooks?token=hunter2",
      "http://example.com/?hunter2",
      "https://example.com/#hunter2", "https://example.com:0/?token=hunter2", "https://exa_%.com?hunter2",
      "https://user:hunter2?@example.com/", "https://user:hunter2#@example.com", "user:hunter2@example.com",
      "ftp://user:hunter2@example.com/", "https://[::1?token=hunter2", "https://[zz]?token=hunter2",
      "http://user:hunter2@example.com/?a@b", "https://user:hunter2/@example.com",
    ])
  func secrets(text: String) {
    #expect(!RemoteURL.withoutSecrets(text).contains("hunter2"))
    #expect {
      try RemoteURL(text)
    } throws: { !"\($0)".contains("hunter2") }
  }

  @Test(
    "a URL is shown without what may be a secret",
    arguments: [
      ("https://example.com/a/b", "https://example.com/a/b"),
      ("https://example.com:8443?a=b@c/d", "https://…"),
      ("https://example.com/a?b=c@d", "https://example.com/a"),
      ("https://a:b@example.com/c", "https://…@example.com/c"),
      ("https://example.com/a#b", "https://example.com/a"), ("example.com?a", "example.com"), ("", ""),
    ])
  func shown(text: String, shown: String) { #expect(RemoteURL.withoutSecrets(text) == shown) }

  @Test("appended segments stay segments, and query items stay items")
  func appending() throws {
    let url = try RemoteURL("https://example.com/base//").appending(
      pathSegments: ["a/b", "c?d#e", "ü%"], queryItems: [("k&", "v=1"), ("", "~-._+")])
    #expect(url.target == "/base/a%2Fb/c%3Fd%23e/%C3%BC%25?k%26=v%3D1&=~-._%2B")
    #expect(try RemoteURL("https://example.com?x").appending(pathSegments: []).target == "/")
  }

  @Test("a Location is absolute, or a path on this host")
  func resolving() throws {
    let url = try RemoteURL("https://example.com:8443/a/b?c")
    #expect(try url.resolving(location: "/x?y").description == "https://example.com:8443/x?y")
    #expect(try url.resolving(location: "https://example.com:8443/").hasSameOrigin(as: url))
    for other in ["https://example.com/", "https://evil.example:8443/"] {
      #expect(try !url.resolving(location: other).hasSameOrigin(as: url))
    }
    for bad in ["", "x", "?x", "//evil.example/", "http://example.com:8443/", "/\\evil.example", "/a b"] {
      #expect(throws: RemoteURL.Failure.self) { try url.resolving(location: bad) }
    }
    let local = try RemoteURL("http://127.0.0.1:80/")
    #expect(try local.resolving(location: "/x").description == "http://127.0.0.1/x")
  }
}
