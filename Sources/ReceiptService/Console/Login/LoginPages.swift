// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging

  extension ReceiptAPI {
    static let sessionCookie = "receipt-console"
    /// Ties the form of the login to a browser that has no session yet.
    static let loginCookie = "receipt-console-login"

    var loginPages: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/login", .open) { [unowned self] visit in
          var visit = visit
          visit.secret = ConsoleSessions.generateSecret()
          var response = loginPage(visit, next: try visit.query("next"), problem: nil)
          response.setCookie(cookie(Self.loginCookie, visit.secret))
          return response
        },
        ConsoleRoute(.post, "/console/login", .open) { [unowned self] in try await login($0) },
        ConsoleRoute(.post, "/console/logout", .login) { [unowned self] visit in
          try await sessions.end(visit.secret)
          var response = ConsoleVisit.redirect(to: "/console/login")
          response.setCookie(cookie(Self.sessionCookie, "", maxAge: 0))
          return response
        },
      ]
    }

    private func login(_ visit: ConsoleVisit) async throws -> Response {
      let address = visit.context.remoteAddress ?? ""
      if let wait = loginLimit.begin(address) {
        throw Problem(
          .tooManyRequests, "too-many-tries", "Too many wrong keys. Try again in \(wait) seconds.",
          retryAfter: wait)
      }
      let text = visit.form["key"]?.filter { !$0.isWhitespace } ?? ""
      guard let principal = try await keys.principal(presenting: text) else {
        visit.context.logger.warning("A login with a wrong key.", metadata: ["address": "\(address)"])
        return loginPage(
          visit, next: visit.form["next"],
          problem: "This is no key of this server, or it was revoked.")
      }
      loginLimit.succeed(address)
      let secret = try await sessions.begin(principal)
      var response = ConsoleVisit.redirect(to: Self.localPath(visit.form["next"]) ?? "/console")
      response.setCookie(cookie(Self.sessionCookie, secret, maxAge: Int(ConsoleSessions.lifetime)))
      response.setCookie(cookie(Self.loginCookie, "", maxAge: 0))
      return response
    }

    private func loginPage(_ visit: ConsoleVisit, next: String?, problem: String?) -> Response {
      struct Login {
        let next: String
        let problem: String?
      }
      return visit.page(
        "login", title: "Log in", status: problem == nil ? .ok : .unauthorized,
        Login(next: Self.localPath(next) ?? "", problem: problem))
    }

    /// The path of a page of the console; `nil` for all that might lead elsewhere.
    private static func localPath(_ text: String?) -> String? {
      guard let text, text == "/console" || text.hasPrefix("/console/") || text.hasPrefix("/console?"),
        text.utf8.allSatisfy({ 0x21..<0x7F ~= $0 && $0 != UInt8(ascii: "\\") })
      else { return nil }
      return text
    }

    private func cookie(_ name: String, _ value: String, maxAge: Int? = nil) -> Cookie {
      Cookie(
        name: name, value: value, maxAge: maxAge, path: "/console", secure: !configuration.allowsPlainHTTP,
        httpOnly: true, sameSite: .strict)
    }
  }
#endif
