// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  import ReceiptBytes
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Testing

  @Suite("Console")
  struct ConsoleTests {
    @Test("What is shown is escaped scalar by scalar, also under a combining accent")
    func escaping() {
      let escaped = EscapedHTML().escapeText("<a b=\"c\" d='e'>&\u{7}\n\"\u{301}<\u{338}\u{202E}")
      #expect(
        escaped.unicodeScalars.elementsEqual(
          "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\u{FFFD}\n&quot;\u{301}&lt;\u{338}\u{FFFD}"
            .unicodeScalars))
    }

    @Test("Line breaks of every system and tabs stay what they are")
    func lineBreaks() {
      let escaped = EscapedHTML().escapeText("a\r\nb\nc\rd\n\re\r\n\r\nf\tg\u{B}")
      #expect(escaped.unicodeScalars.elementsEqual("a\nb\nc\nd\n\ne\n\nf\tg\u{FFFD}".unicodeScalars))
    }

    @Test("A list is shown by pages of a bounded length, each element on one")
    func pagesOfLists() {
      for count in [0, 1, 99, 100, 101, 250] {
        var seen: [Int] = []
        var start: Int? = 0
        while let from = start {
          let page = ListPage(Array(0..<count), from: from, limit: 100) { "\($0)" }
          #expect(page.elements.count <= 100)
          #expect(page.start == from)
          #expect((page.footer == nil) == (count <= 100))
          #expect(page.footer?.previousTarget == (from == 0 ? nil : "\(from - 100)"))
          seen += page.elements
          start = page.footer?.nextTarget.flatMap { Int($0) }
        }
        #expect(seen == Array(0..<count))
        #expect(ListPage(Array(0..<count), from: 1 << 40, limit: 100) { "\($0)" }.elements.last == seen.last)
        #expect(ListPage(Array(0..<count), from: -5, limit: 100) { "\($0)" }.start == 0)
      }
    }

    @Test("Values of strangers are cut off")
    func longValues() {
      #expect(CellView(String(repeating: "ä", count: 2000)).value.unicodeScalars.count == 2000)
      #expect(CellView(String(repeating: "ä", count: 2001)).value.hasSuffix("ä… (4002 bytes)"))
      #expect(CellView(String(repeating: "x", count: 1_000_000)).value.utf8.count < 2100)
    }

    @Test("Every template can be read, and escapes")
    func templates() throws {
      let templates = try ConsoleTemplates()
      for name in ConsoleAssets.templates.keys {
        #expect(!ConsoleAssets.templates[name, default: ""].contains("{{{"), "\(name)")
        #expect(!ConsoleAssets.templates[name, default: ""].contains("{{&"), "\(name)")
      }
      let page = templates.render("problem", ["title": "<b>", "content": ["detail": "\"\u{301}"]])
      #expect(page.contains("<h1>&lt;b&gt;</h1>"))
      #expect(page.contains("&quot;\u{301}"))
    }

    @Test("Only the login is open; all else takes a login, and most of it a scope")
    func access() async throws {
      let fixture = try ServiceFixture()
      let api = try ReceiptAPI(ServiceConfiguration(apps: [fixture.app]), database: fixture.database)
      let open = api.consoleRoutes.filter { $0.access == .open }.map { "\($0.method) \($0.path)" }
      #expect(open == ["GET /console/login", "POST /console/login"])
      let ofAnyKey = api.consoleRoutes.filter { $0.access == .login }.map { "\($0.method) \($0.path)" }
      // The search asks for the scope of what it finds: see test_console.py.
      #expect(
        Set(ofAnyKey) == [
          "GET /console/time-zone", "POST /console/time-zone", "POST /console/logout", "GET /console",
          "POST /console/search", "GET /console/{file+}",
        ])
      for route in api.consoleRoutes {
        #expect(route.path == "/console" || route.path.hasPrefix("/console/"))
        #expect(["GET", "POST"].contains("\(route.method)"))
        if "\(route.method)" == "POST", case .scope(let scope) = route.access {
          let mayChange: Set<Scope> = [.admin, .grant, .review]
          // Asking a store changes what the store tells, as the API's lookup does with the same scope.
          let ofVerify: Set<String> = ["/console/verify", "/console/search/ask"]
          #expect(mayChange.contains(scope) || ofVerify.contains(route.path), "\(route.path)")
        }
      }
      await fixture.remove()
    }

    // MARK: Forms

    private static let body = Array(
      """
      --b0\r
      Content-Disposition: form-data; name="token"\r
      \r
      one\r
      --b0\r
      Content-Disposition: form-data; name="file"; filename="a.jws"\r
      Content-Type: application/octet-stream\r
      \r
      two\r
      --b\r
      \r
      --b0--\r

      """.utf8)

    @Test("A form is read")
    func form() throws {
      let form = try ConsoleForm(Self.body, contentType: "multipart/form-data; boundary=b0")
      #expect(form["token"] == "one")
      #expect(form.bytes("file") == Array("two\r\n--b\r\n".utf8))
      #expect(form["nothing"] == nil)
    }

    @Test("A form that is cut off or altered anywhere is refused or read, and ends nothing")
    func malformedForm() {
      var refusals = 0
      for count in 0..<Self.body.count - 4 {
        #expect(throws: Problem.self) {
          try ConsoleForm(Array(Self.body.prefix(count)), contentType: "multipart/form-data; boundary=b0")
        }
        for byte: UInt8 in [0, 0x0A, 0x22, 0x2D, 0xFF] {
          var body = Self.body
          body[count] = byte
          if (try? ConsoleForm(body, contentType: "multipart/form-data; boundary=b0")) == nil {
            refusals += 1
          }
        }
      }
      #expect(refusals > 100)
      for contentType in [nil, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        #expect(throws: Problem.self) { try ConsoleForm(Self.body, contentType: contentType) }
      }
    }

    // MARK: Logins

    @Test("A login ends after twelve hours, by logging out, and with its key")
    func sessions() async throws {
      let fixture = try ServiceFixture()
      let keys = KeyRing(fixture.database, clock: fixture.clock.reading)
      let key = try await keys.create(name: "one", app: nil, scopes: [.read], by: "test")
      let principal = try #require(try await keys.principal(id: key.id))
      let sessions = ConsoleSessions(database: fixture.database, keys: keys, clock: fixture.clock.reading)
      let later = { (seconds: Double) in
        ConsoleSessions(
          database: fixture.database, keys: keys, clock: { fixture.clock.reading().addingSeconds(seconds) })
      }
      let secret = try await sessions.begin(principal)
      #expect(try await sessions.principal(secret) == principal)
      #expect(try await sessions.principal(ConsoleSessions.generateSecret()) == nil)
      #expect(try await later(43_199).principal(secret) == principal)
      #expect(try await later(43_200).principal(secret) == nil)
      // Neither the cookie nor what forms carry can be had from the database.
      let stored = try await fixture.database.read { try $0.run("SELECT hash FROM sessions")[0].bytes(0) }
      #expect(stored.count == 32)
      #expect(Base64URL.encodeToString(stored) != secret)
      #expect(Base64URL.encodeToString(stored) != ConsoleSessions.formToken(secret))

      try await sessions.end(secret)
      #expect(try await sessions.principal(secret) == nil)
      let other = try await sessions.begin(principal)
      #expect(try await keys.revoke(id: key.id, by: "test"))
      #expect(try await sessions.principal(other) == nil)
      await fixture.remove()
    }

    @Test("Wrong keys are limited by address and together")
    func loginLimit() {
      let limit = LoginLimit()
      let start = ContinuousClock.now
      func count(_ limit: LoginLimit, _ address: String, _ seconds: Int = 0) -> Int? {
        limit.countWrongKey(from: address, at: start + .seconds(seconds))
      }
      for _ in 0..<LoginLimit.triesOfAddress { #expect(count(limit, "a") == nil) }
      #expect(count(limit, "a", 10) == 51)
      #expect(count(limit, "b") == nil)
      #expect(count(limit, "a", 60) == nil)

      let together = LoginLimit()
      for address in 0..<LoginLimit.triesOfAll { #expect(count(together, "\(address)") == nil) }
      #expect(count(together, "another") != nil)
      #expect(count(together, "another", 60) == nil)
    }

    @Test("Cookies are for https alone unless a browser may come over http")
    func cookies() {
      var configuration = ServiceConfiguration(apps: [])
      #expect(configuration.securesCookies)
      configuration.allowsPlainHTTP = true
      #expect(!configuration.securesCookies)
      configuration.publicURL = "http://receipts.example.com"
      #expect(!configuration.securesCookies)
      configuration.publicURL = "HTTPS://receipts.example.com"
      #expect(configuration.securesCookies)
    }

    // MARK: Drawings

    @Test("The chart counts the answers with 500 and more as faults, and no others")
    func faults() {
      let requests = RecentRequests()
      let answer = Answer(endpoints: [], shutdown: ShutdownState(), recentRequests: requests)
      for status: HTTPResponse.Status in [.ok, .notFound, .internalServerError, .serviceUnavailable] {
        answer.count("test", .get, status, since: .now)
      }
      let periods = requests.periods(of: RecentRequests.seconds)
      #expect(periods.map(\.count) == [4])
      #expect(periods.map(\.faultCount) == [2])
    }

    @Test("Requests are counted by the second, with latencies by at most a fifth too many")
    func recentRequests() throws {
      let requests = RecentRequests()
      let start = ContinuousClock.now
      for milliseconds in 1...100 {
        requests.record(duration: .milliseconds(milliseconds), isFault: milliseconds > 98, at: start)
      }
      requests.record(duration: .zero, isFault: false, at: start + .seconds(25))
      let periods = requests.periods(of: 10, at: start + .seconds(29))
      #expect(periods.count == 60)
      #expect(periods.suffix(3).map(\.count) == [100, 0, 1])
      #expect(periods[57].faultCount == 2)
      let median = try #require(periods[57].microseconds(0.5))
      let high = try #require(periods[57].microseconds(0.99))
      #expect((50_000...62_500).contains(median))
      #expect((99_000...124_000).contains(high))
      #expect(periods[58].microseconds(0.5) == nil)
      // Requests of ten minutes ago are no longer counted.
      #expect(requests.periods(of: 10, at: start + .seconds(700)).allSatisfy { $0.count == 0 })
    }
  }
#endif
