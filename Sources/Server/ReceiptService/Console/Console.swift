// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCrypto

  /// Serves the pages of the console to browsers that are logged in.
  struct Console: Sendable {
    let routes: [ConsoleRoute]
    let apps: ServedApps
    let sessions: ConsoleSessions
    let admission: Admission
    let bodies: BodyReader
    let templates: ConsoleTemplates
    /// The executor that renders the pages, which would block other requests on an event loop.
    let executor = SerialTaskExecutor(label: "receipt-kit.console")

    /// The endpoints of the pages and of the files that they load.
    var endpoints: [Endpoint] {
      routes.flatMap { route in
        Endpoint.all(route.method, route.path) { try await respond(to: $0, $1, by: route) }
      } + Endpoint.all(.get, "/console/assets/{name}") { _, context in try asset(context) }
    }

    private func asset(_ context: ServiceContext) throws -> Response {
      guard let name = context.parameters.get("name"), let text = ConsoleAssets.files[name] else {
        throw Problem.notFound
      }
      let type = name.hasSuffix(".css") ? "text/css" : "text/javascript"
      var response = Response(
        status: .ok,
        headers: [
          .contentType: "\(type); charset=utf-8", .cacheControl: "public, max-age=31536000, immutable",
        ], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
      protect(&response)
      return response
    }

    private func respond(
      to request: Request, _ context: ServiceContext, by route: ConsoleRoute
    ) async throws -> Response {
      let session = request.cookies[LoginPages.sessionCookie]?.value
      var visit = ConsoleVisit(
        servedApps: apps, templates: templates, request: request, context: context,
        secret: (route.access == .open ? request.cookies[LoginPages.loginCookie]?.value : session) ?? "")
      var response: Response
      let zone = request.cookies[ShownZone.cookie].flatMap { ShownZone($0.value) } ?? .utc
      response = await withTaskExecutorPreference(executor) {
        await ShownTime.$zone.withValue(zone) {
          do {
            return try await answer(&visit, by: route, session)
          } catch {
            return visit.page(for: Problem(for: error, context.logger))
          }
        }
      }
      protect(&response)
      return response
    }

    private func answer(
      _ visit: inout ConsoleVisit, by route: ConsoleRoute, _ session: String?
    ) async throws -> Response {
      if route.access != .open {
        guard let session, let principal = try await sessions.principal(session) else {
          guard route.method == .get else {
            throw Problem(.unauthorized, "logged-out", "You are not logged in any more. Log in again.")
          }
          return ConsoleVisit.redirect(
            to: ConsoleURL.make("/console/login", [("next", visit.request.uri.string)]))
        }
        visit.principal = principal
        if case .scope(let scope) = route.access { try principal.require(scope) }
      } else if route.method == .post {
        visit.request = try await admission.arrived(visit.request, visit.context)
      }
      return try await admission.serve(
        in: route.access == .open ? admission.openPlaces : admission.places, visit.context
      ) {
        if route.method == .post { try await readForm(of: &visit) }
        return try await route.respond(visit)
      }
    }

    private func readForm(of visit: inout ConsoleVisit) async throws {
      visit.form = try ConsoleForm(
        try await bodies.bytes(of: visit.request), contentType: visit.request.headers[.contentType])
      let isTied = ConstantTime.equals(
        Array((visit.form["token"] ?? "").utf8), Array(visit.formToken.utf8))
      guard isTied, !visit.secret.isEmpty else {
        throw Problem(
          .forbidden, "foreign-form",
          "The form does not come from a page of this session. Open the page again, and send it from there."
        )
      }
    }

    /// Adds headers that make browsers execute and show only content of this server.
    private func protect(_ response: inout Response) {
      response.headers[.contentSecurityPolicy] =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'; connect-src 'self'"
      if let name = HTTPField.Name("Referrer-Policy") { response.headers[name] = "no-referrer" }
      if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    }
  }
#endif
