// SPDX-License-Identifier: Apache-2.0

package import AppStoreEmulator
public import ReceiptCodec
public import ReceiptHTTP

/// Google Play as developers' servers see it: the token endpoint, the Play Developer API of one or more apps, the key
/// sets of push tokens, and pushes of Real-time Developer Notifications.
///
/// | Request | Does |
/// |---|---|
/// | `POST /token` | exchanges the assertion of a service account for an access token |
/// | `/androidpublisher/v3/applications/{packageName}/…` | the Play Developer API |
/// | `GET /oauth2/v3/certs`, `GET /oauth2/v1/certs` | the keys of push tokens, as a key set or as certificates |
/// | `/_emulator/play/…`, `/apps/{packageName}/_emulator/play/…` | controls; the article of the module lists them |
public struct EmulatedPlay: Sendable {
  /// The apps, with distinct package names; at least one.
  package let stores: [EmulatedPlayStore]
  let tokens: TokenEndpoint
  let keys = PushKeys()
  private let checksTokens: Bool
  private let clock: @Sendable () -> Timestamp

  /// Serves apps.
  ///
  /// - Parameters:
  ///   - stores: The apps.
  ///   - accounts: The service accounts whose assertions are accepted.
  ///   - checksTokens: `true` to require an access token for each call.
  ///   - clock: The clients' time.
  public init(
    _ stores: [EmulatedPlayStore], accounts: [PlayServiceAccount] = [], checksTokens: Bool = true,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    precondition(!stores.isEmpty, "a server has an app")
    self.stores = stores
    self.checksTokens = checksTokens
    self.clock = clock
    tokens = TokenEndpoint(accounts, clock: clock)
  }

  /// Pushes notifications to a URL. If it is `nil`, nothing is pushed until a control sets a URL.
  ///
  /// - Parameters:
  ///   - url: The push endpoint.
  ///   - audience: The audience of tokens; the URL by default.
  ///   - email: The account in tokens; an account of the emulator by default.
  ///   - transport: Sends requests.
  ///   - timeout: The longest time an answer may take, in real time.
  public func pushNotifications(
    to url: String?, audience: String? = nil, email: String? = nil, over transport: any HTTPTransport,
    timeout: Duration = .seconds(10)
  ) {
    pushNotifications(to: { _ in url }, audience: audience, email: email, over: transport, timeout: timeout)
  }

  /// Pushes the notifications of each app to a URL of its own.
  package func pushNotifications(
    to url: (EmulatedPlayStore) -> String?, audience: String? = nil, email: String? = nil,
    over transport: any HTTPTransport, timeout: Duration = .seconds(10)
  ) {
    for store in stores {
      let url = url(store)
      store.settings.withState { settings in
        settings.push.url = url
        settings.push.audience = audience
        if let email { settings.push.email = email }
      }
      store.pushMessages(over: transport, timeout: timeout, keys: keys)
    }
  }

  private typealias Answer = @Sendable (EmulatorRequest) async -> RemoteResponse

  /// The handler of a request, and the app whose faults apply; `nil` for a request of another store.
  private func answer(to request: EmulatorRequest) -> (faults: EmulatedAppStore?, answer: Answer)? {
    var path = request.path
    var named: EmulatedPlayStore?
    if path.count > 3, path[0] == "apps", path[2] == "_emulator" {
      named = stores.first { $0.packageName == path[1] }
      guard named != nil else { return nil }
      path.removeFirst(2)
    }
    let host = stores[0].host
    if path.first == "_emulator" {
      // The tool escapes the slash within the name of a control.
      let name = path.dropFirst().joined(separator: "/")
      guard name.hasPrefix("play/") else { return nil }
      let control = PlayControl(play: self, store: named ?? stores[0])
      return (nil, { await control.respond(to: $0, name: String(name.dropFirst("play/".count))) })
    }
    switch (request.method, path) {
    case (_, ["token"]): return (host, { [tokens] in tokens.respond(to: $0) })
    case ("GET", ["oauth2", "v3", "certs"]): return (host, { _ in keyResponse { try keys.keySet() } })
    case ("GET", ["oauth2", "v1", "certs"]):
      return (host, { _ in keyResponse { try keys.certificates(now: clock()) } })
    default: break
    }
    guard path.count > 3, Array(path.prefix(3)) == ["androidpublisher", "v3", "applications"] else {
      return nil
    }
    let checked = checksTokens ? tokens : nil
    if let store = stores.first(where: { $0.packageName == path[3] }) {
      let rest = Array(path.dropFirst(4))
      return (store.host, { await store.respond(to: $0, path: rest, checked) })
    }
    let unknownApp: Answer = { request in
      do throws(PlayError) { try checked?.check(request) } catch { return error.response }
      return PlayError.applicationNotFound.response
    }
    return (host, unknownApp)
  }

  /// Answers a request without faults: an API call, a token request, a control.
  package func respond(to request: EmulatorRequest) async -> RemoteResponse {
    await answer(to: request)?.answer(request) ?? PlayError.notFound.response
  }

  private func keyResponse(_ body: () throws -> RemoteResponse) -> RemoteResponse {
    do { return try body() } catch { return PlayError.internal("\(error)").response }
  }

  /// Answers a request of Google Play, applying the next fault of the app's script; `nil` for any other request.
  package func deliver(_ request: EmulatorRequest) async -> EmulatorDelivery? {
    guard let (faults, answer) = answer(to: request) else { return nil }
    guard let faults else { return EmulatorDelivery(await answer(request)) }
    return await faults.deliver(request, answer)
  }
}

/// A transport to an emulated Google Play in the same process, without sockets and without faults.
public struct EmulatedPlayTransport: HTTPTransport {
  private let play: EmulatedPlay

  /// Sends all requests to one emulated Google Play, whatever their host.
  public init(_ play: EmulatedPlay) { self.play = play }

  /// Sends a request.
  public func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    let authority = request.url.authority
    var request = EmulatorRequest(request)
    request.headers.append(HTTPHeader("Host", authority))
    return await play.respond(to: request)
  }
}
