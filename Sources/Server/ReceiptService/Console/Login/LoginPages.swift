// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging
  internal import Synchronization

  struct LoginPages {
    static let sessionCookie = "receipt-console"
    /// The cookie that binds the login form to a browser without a session.
    static let loginCookie = "receipt-console-login"

    let keys: KeyRing
    let sessions: ConsoleSessions
    /// `true` if cookies are sent only over `https://`.
    let securesCookies: Bool
    let limit = LoginLimit()

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/login", .open) { visit in
          var visit = visit
          visit.secret = ConsoleSessions.generateSecret()
          var response = loginPage(visit, next: try visit.query("next"), problem: nil)
          response.setCookie(cookie(Self.loginCookie, visit.secret, for: visit))
          return response
        },
        ConsoleRoute(.post, "/console/login", .open, respond: login),
        ConsoleRoute(.get, "/console/time-zone", .login, respond: zonePage),
        ConsoleRoute(.post, "/console/time-zone", .login, respond: chooseZone),
        ConsoleRoute(.post, "/console/logout", .login) { visit in
          try await sessions.end(visit.secret)
          var response = ConsoleVisit.redirect(to: "/console/login")
          response.setCookie(cookie(Self.sessionCookie, "", maxAge: 0, for: visit))
          return response
        },
      ]
    }

    private func login(_ visit: ConsoleVisit) async throws -> Response {
      let text = visit.form["key"]?.filter { !$0.isWhitespace } ?? ""
      // A correct key is accepted regardless of other tries from the same address, which may be a proxy's.
      guard let principal = try await keys.principal(presenting: text), !principal.isPublishable else {
        let address = visit.context.remoteAddress ?? ""
        if let wait = limit.countWrongKey(from: address) {
          throw Problem(
            .tooManyRequests, "too-many-tries", "Too many wrong keys. Try again in \(wait) seconds.",
            retryAfter: wait)
        }
        visit.context.logger.warning("A console login had a wrong key.", metadata: ["address": "\(address)"])
        return loginPage(
          visit, next: visit.form["next"],
          problem: "This is no key of this server, or it was revoked.")
      }
      let secret = try await sessions.begin(principal)
      var response = ConsoleVisit.redirect(to: Self.localPath(visit.form["next"]) ?? "/console")
      response.setCookie(
        cookie(Self.sessionCookie, secret, maxAge: Int(ConsoleSessions.lifetime), for: visit))
      response.setCookie(cookie(Self.loginCookie, "", maxAge: 0, for: visit))
      return response
    }

    private func loginPage(_ visit: ConsoleVisit, next: String?, problem: String?) -> Response {
      return visit.page(
        "login", title: "Log in", status: problem == nil ? .ok : .unauthorized,
        ["next": Self.localPath(next) ?? "", "problem": problem])
    }

    // MARK: Time zone

    private func zonePage(_ visit: ConsoleVisit) throws -> Response {
      let zone = ShownTime.zone
      return visit.page(
        "time-zone", title: "Time zone",
        [
          "next": Self.localPath(try visit.query("next")) ?? "/console",
          "isUTC": zone == .utc, "isBrowsers": zone.followsBrowser, "stored": zone.stored,
          "isNamed": zone != .utc && !zone.followsBrowser,
          "zoneChoice": ChoiceView(
            name: "named", label: "Time zone", options: ShownZone.names.map { ($0, $0) }, chosen: zone.name),
        ])
    }

    private func chooseZone(_ visit: ConsoleVisit) throws -> Response {
      let text =
        switch visit.form["zone"] {
        case "named": visit.form["named"] ?? ""
        case "browser": "browser:" + (visit.form["browser"] ?? "")
        default: "UTC"
        }
      guard let zone = ShownZone(text) else {
        throw Problem(.badRequest, "unknown-time-zone", "The time zone is not known. Choose another.")
      }
      var response = ConsoleVisit.redirect(to: Self.localPath(visit.form["next"]) ?? "/console")
      response.setCookie(cookie(ShownZone.cookie, zone.stored, maxAge: 365 * 86_400, for: visit))
      return response
    }

    /// The path of a page of the console; `nil` for any text that might lead elsewhere.
    static func localPath(_ text: String?) -> String? {
      guard let text, text == "/console" || text.hasPrefix("/console/") || text.hasPrefix("/console?"),
        text.utf8.allSatisfy({ 0x21..<0x7F ~= $0 && $0 != UInt8(ascii: "\\") })
      else { return nil }
      return text
    }

    /// A cookie that only the console's pages and forms receive.
    func cookie(
      _ name: String, _ value: String, maxAge: Int? = nil, for visit: ConsoleVisit
    ) -> Cookie {
      Cookie(
        name: name, value: value, maxAge: maxAge, path: "/console",
        secure: securesCookies || Self.isForwardedSecurely(visit.request),
        httpOnly: true, sameSite: .strict)
    }

    /// Returns `true` if the field `X-Forwarded-Proto`, which a proxy sets, is `https`.
    ///
    /// A browser could set the field itself, but would only restrict its own cookie to `https://`.
    private static func isForwardedSecurely(_ request: Request) -> Bool {
      guard let name = HTTPField.Name("X-Forwarded-Proto") else { return false }
      return request.headers[name]?.lowercased() == "https"
    }
  }

  /// A limit on the number of wrong keys at the console's login that are answered with a page and logged.
  ///
  /// There is a limit for each address and one for all addresses together, so that using many addresses gains nothing.
  /// Keys have 256 random bits and cannot be guessed: the limit only bounds the work.
  final class LoginLimit: Sendable {
    static let triesOfAddress = 5
    static let triesOfAll = 60
    private static let window: Duration = .seconds(60)

    /// The tries within the time window, oldest first; at most ``triesOfAll``.
    private let tries = Mutex<[(address: String, time: ContinuousClock.Instant)]>([])

    /// Counts a wrong key.
    ///
    /// - Returns: `nil` if the try was counted; otherwise the number of seconds after which to try again.
    func countWrongKey(from address: String, at now: ContinuousClock.Instant = .now) -> Int? {
      tries.withLock { tries in
        tries.removeAll { now - $0.time >= Self.window }
        let own = tries.filter { $0.address == address }
        let last =
          own.count >= Self.triesOfAddress
          ? own[own.count - Self.triesOfAddress] : tries.count >= Self.triesOfAll ? tries.first : nil
        guard let last else {
          tries.append((address, now))
          return nil
        }
        return Int((Self.window - (now - last.time)).components.seconds) + 1
      }
    }
  }
#endif
