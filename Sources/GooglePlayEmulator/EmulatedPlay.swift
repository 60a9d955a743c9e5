// SPDX-License-Identifier: Apache-2.0

package import AppStoreEmulator
public import ReceiptCodec
internal import ReceiptCrypto
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
  /// The apps, of different package names; at least one.
  public let stores: [EmulatedPlayStore]
  let tokens: TokenEndpoint
  let keys = PushKeys()
  private let checksTokens: Bool
  private let clock: @Sendable () -> Timestamp

  /// Serves apps.
  ///
  /// - Parameters:
  ///   - stores: The apps.
  ///   - accounts: The service accounts whose assertions are accepted.
  ///   - checksTokens: Whether a call needs an access token.
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

  /// Pushes notifications to a URL, or with `nil` to the one that a control sets later.
  ///
  /// - Parameters:
  ///   - url: The push endpoint.
  ///   - audience: The audience of tokens; the URL by default.
  ///   - email: The account of tokens; by default a name of the emulator's.
  ///   - transport: Sends requests.
  ///   - timeout: How long an answer may take, in real time.
  public func pushNotifications(
    to url: String?, audience: String? = nil, email: String? = nil, over transport: any HTTPTransport,
    timeout: Duration = .seconds(10)
  ) {
    for store in stores {
      store.withSettings { settings in
        settings.push.url = url
        settings.push.audience = audience
        if let email { settings.push.email = email }
      }
      store.pushMessages(over: transport, timeout: timeout, keys: keys)
    }
  }

  private func answer(
    _ request: EmulatorRequest, _ body: (EmulatorRequest) async -> EmulatorResponse
  ) async -> EmulatorDelivery {
    await stores[0].host.deliver(request, body)
  }
}

extension EmulatedPlay: OtherStore {
  /// The answer to a request of Google Play; `nil` for any other.
  package func deliver(_ request: EmulatorRequest) async -> EmulatorDelivery? {
    var path = request.path
    var named: EmulatedPlayStore?
    if path.count > 3, path[0] == "apps", path[2] == "_emulator" {
      named = stores.first { $0.packageName == path[1] }
      guard named != nil else { return nil }
      path.removeFirst(2)
    }
    if path.first == "_emulator" {
      // The tool escapes the slash within the name of a control.
      let name = path.dropFirst().joined(separator: "/")
      guard name.hasPrefix("play/") else { return nil }
      let control = PlayControl(play: self, store: named ?? stores[0])
      return EmulatorDelivery(await control.respond(to: request, name: String(name.dropFirst("play/".count))))
    }
    switch path {
    case ["token"]: return await answer(request) { tokens.respond(to: $0) }
    case ["oauth2", "v3", "certs"] where request.method == "GET":
      return await answer(request) { _ in keyResponse { () throws(CryptoError) in try keys.keySet() } }
    case ["oauth2", "v1", "certs"] where request.method == "GET":
      return await answer(request) { _ in
        keyResponse { () throws(CryptoError) in try keys.certificates(now: clock()) }
      }
    default: break
    }
    guard path.count > 3, Array(path.prefix(3)) == ["androidpublisher", "v3", "applications"] else {
      return nil
    }
    let checked = checksTokens ? tokens : nil
    guard let store = stores.first(where: { $0.packageName == path[3] }) else {
      return await answer(request) { _ in
        do throws(PlayError) { try checked?.check(request.header("Authorization")) } catch {
          return error.response
        }
        return PlayError.applicationNotFound.response
      }
    }
    return await store.host.deliver(request) {
      await store.respond(to: $0, path: Array(path.dropFirst(4)), checked)
    }
  }

  private func keyResponse(_ body: () throws(CryptoError) -> EmulatorResponse) -> EmulatorResponse {
    do throws(CryptoError) { return try body() } catch {
      return PlayError(500, "INTERNAL", "backendError", "\(error)", domain: "global").response
    }
  }
}
