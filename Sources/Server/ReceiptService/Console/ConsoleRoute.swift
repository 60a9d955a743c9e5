// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptCodec

  extension ConsoleRoute {
    /// The login that a page needs.
    enum Access: Sendable, Hashable {
      case open
      case login
      case scope(Scope)
    }
  }

  extension ConsoleVisit {
    /// The token that forms contain, for which one needs the secret in the cookie.
    var formToken: String { ConsoleSessions.formToken(secret) }

    /// The key of the login, on a page that needs one.
    var login: Principal {
      get throws {
        guard let principal else { throw Problem.unauthorized }
        return principal
      }
    }

    func may(_ scope: Scope) -> Bool { principal?.may(scope) ?? false }

    func query(_ name: String) throws -> String? { try request.queryParameter(name) }

    // MARK: Apps

    /// The apps that the key may see, in the order of the configuration.
    var apps: [ServedApp] {
      servedApps.all.filter { principal?.mayUse(app: $0.name) ?? false }
    }

    /// The chosen app, or the only one; `nil` for all apps, which requires a key that is not confined to one.
    func chosenApp() throws -> ServedApp? {
      let name = try form["app"] ?? query("app") ?? principal?.app
      guard let name, !name.isEmpty else { return nil }
      guard let app = apps.first(where: { $0.name == name }) else { throw Problem.notFound }
      return app
    }

    func app() throws -> ServedApp {
      guard let app = try chosenApp() ?? apps.first else { throw Problem.notFound }
      return app
    }

    /// The audit entries to show: those of the chosen app, or all.
    func audience() throws -> EntryAudience {
      let app = try chosenApp()
      if app == nil { try login.require(app: nil) }
      return EntryAudience(app: app)
    }

    /// The selection of an app; `nil` if there is only one.
    func appChoice(_ chosen: ServedApp?, orAll: Bool = false) -> ChoiceView? {
      guard apps.count > 1 else { return nil }
      return ChoiceView(
        name: "app", label: "App",
        options: (orAll ? [("", "all")] : []) + apps.map { ($0.name, $0.name) }, chosen: chosen?.name ?? "")
    }

    // MARK: Answers

    /// Creates a page from a template and the values that it shows.
    func page(
      _ template: String, title: String, status: HTTPResponse.Status = .ok, _ content: [String: Any?]
    ) -> Response {
      page(template, title: title, status: status, content: Self.present(content))
    }

    static func present(_ values: [String: Any?]) -> [String: Any] { values.compactMapValues(\.self) }

    func page(
      _ template: String, title: String, status: HTTPResponse.Status = .ok, content: Any
    ) -> Response {
      let frame = Self.present([
        "title": title, "version": templates.version, "name": principal?.name,
        "navigation": principal == nil ? [] : ConsoleNavigation.items(for: self), "formToken": formToken,
        "zoneName": ShownTime.zone.name,
        "browserZone": ShownTime.zone.followsBrowser ? ShownTime.zone.name : nil,
        "zoneTarget": ConsoleURL.make(
          "/console/time-zone", [("next", request.method == .get ? request.uri.string : request.uri.path)]),
        "taken": takenView, "content": content,
      ])
      return Response(
        status: status, headers: [.contentType: "text/html; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: templates.render(template, frame))))
    }

    /// What the search took a text for, if it led to the page.
    private var takenView: [String: Any]? {
      guard let meaning = taken ?? (try? query("taken")).flatMap(SearchMeaning.init(rawValue:)) else {
        return nil
      }
      let text = taken == nil ? try? query("q") : nil
      return Self.present([
        "takenFor": meaning.name,
        "takenOthers": text.map { ConsoleURL.make(SearchPages.path, [("q", $0)]) },
      ])
    }

    func page(for problem: Problem) -> Response {
      var response = page(
        "problem", title: problem.status == .notFound ? "Not found" : problem.status.reasonPhrase,
        status: problem.status, ["detail": problem.detail, "code": problem.code])
      if let retryAfter = problem.retryAfter { response.headers[.retryAfter] = String(retryAfter) }
      return response
    }

    static func redirect(to path: String) -> Response {
      Response(status: .seeOther, headers: [.location: path])
    }
  }
#endif
