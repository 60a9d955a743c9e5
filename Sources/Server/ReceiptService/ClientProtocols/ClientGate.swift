// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore

  /// The entrance of a client protocol: identifies the key of a request, counts the request, and admits it.
  ///
  /// Each protocol has its own place for keys and its own errors, so that its controller answers ``ClientRefusal``.
  struct ClientGate: Sendable {
    let clientProtocol: ClientProtocol
    let identity: Identity
    let admission: Admission
    let limit: ClientRateLimit
    let trustedProxies: Set<String>
    let entitlements: ServiceEntitlements

    /// Identifies the key of a request, which may be that of a published app or that of a server.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - key: The text of the key; `nil` if the request has none.
    ///   - isInURL: `true` if the key was found in the URL, where only one that may be published belongs.
    ///   - name: The app that the request names beside the key; `nil` if the protocol has no place for it.
    ///   - context: The context of the request.
    /// - Returns: The request, with its app.
    /// - Throws: ``ClientRefusal``; ``DatabaseError`` if the keys cannot be read.
    func call(
      _ request: Request, presenting key: (some StringProtocol)?, isInURL: Bool = false,
      app name: String? = nil, _ context: ServiceContext
    ) async throws -> ClientCall {
      guard let key else { throw ClientRefusal.missingKey }
      if isInURL, APIKeyText(key)?.isPublishable == false { throw ClientRefusal.secretKeyInURL }
      guard let caller = try await identity.authenticate(request, presenting: key) else {
        throw ClientRefusal.unknownKey
      }
      var call = try admitted(caller, app: name)
      if let address = address(
        of: call, ClientAddressSource(peer: context.remoteAddress, fields: request.headers))
      {
        do throws(ClientRateLimit.Exceeded) { call.allowance = try limit.count(from: address) } catch {
          throw ClientRefusal.tooManyRequests(error)
        }
      }
      return call
    }

    /// Checks what the key of a request allows, and whether the app opens the protocol.
    private func admitted(_ caller: AuthenticatedRequest, app name: String? = nil) throws -> ClientCall {
      let principal = caller.principal
      guard principal.isPublishable || principal.may(.verify) else { throw ClientRefusal.missingScope }
      if let name, !principal.mayUse(app: name) { throw ClientRefusal.unknownKey }
      let app = try caller.app(named: name)
      guard app.configuration.clientProtocols.contains(clientProtocol) else { throw ClientRefusal.notServed }
      return ClientCall(
        caller: caller, app: app, places: principal.isPublishable ? admission.openPlaces : admission.places)
    }

    /// The address that a request is counted for; `nil` for a key that is not limited.
    private func address(of call: ClientCall, _ source: ClientAddressSource) -> String? {
      call.caller.principal.isPublishable ? source.address(trusting: trustedProxies) : nil
    }

    /// The verification of a receipt that a client presents: today's state is asked for, so the ledger is, too.
    func verification(for call: ClientCall) throws -> Verification {
      var verification = try Verification(
        call.app, policy: try call.caller.request.queryParameter("policy"), customer: nil, entitlements)
      verification.consultsLedger = true
      return verification
    }

    /// The body of a request, when it has arrived completely.
    ///
    /// - Throws: ``Problem`` if it has more than `maximumByteCount` bytes.
    func body(
      of request: Request, maximumByteCount: Int = .max, _ context: ServiceContext
    ) async throws -> [UInt8] {
      let bodies = BodyReader(maximumByteCount: maximumByteCount)
      try bodies.requireLength(request)
      return try await bodies.bytes(of: try await admission.arrived(request, context))
    }

    // MARK: Before the router

    /// A request of OpenIAP that can be answered before the router; `nil` leaves it to the router.
    ///
    /// The request is counted for the client's address, unless it is given back.
    func beginEarly(_ request: Request, _ path: String, _ source: ClientAddressSource) -> EarlyRequest? {
      guard OpenIAPController.isJSON(request.headers), let key = try? OpenIAPController.key(of: request),
        let caller = identity.authenticateAtOnce(request, presenting: key),
        let call = try? admitted(caller), call.app.configuration.checkers.isEmpty,
        let verification = try? verification(for: call)
      else { return nil }
      let address = address(of: call, source)
      var allowance: ClientRateLimit.Allowance?
      if let address {
        do throws(ClientRateLimit.Exceeded) { allowance = try limit.count(from: address) } catch {
          return nil
        }
      }
      guard (try? call.places.take()) != nil else {
        if let address { limit.giveBack(to: address) }
        return nil
      }
      return EarlyRequest(
        operation: EarlyOpenIAP(path: path, gate: self, allowance: allowance, address: address),
        verification: verification, places: call.places)
    }
  }

  /// What names the address of a client: its connection, and what proxies said.
  struct ClientAddressSource {
    /// The address of the peer.
    let peer: String?
    let fields: HTTPFields

    /// The address of the client: that of the peer, or of the last one that a trusted proxy names.
    func address(trusting proxies: Set<String>) -> String {
      var address = peer ?? ""
      guard proxies.contains(address), let name = HTTPField.Name("X-Forwarded-For") else { return address }
      // Each proxy appends the address of its peer.
      var hops = fields[values: name].flatMap { $0.split(separator: ",") }
      while proxies.contains(address), let hop = hops.popLast() { address = String(hop.trimmed) }
      return address
    }
  }

  /// A request at a client protocol, whose key was identified.
  struct ClientCall: Sendable {
    let caller: AuthenticatedRequest
    let app: ServedApp
    /// The state of the limit for the client's address; `nil` if there is no limit.
    var allowance: ClientRateLimit.Allowance?
    /// The places among the requests that are served at once.
    let places: RequestPlaces
  }

  /// The reason that a request at a client protocol is refused before its content is looked at.
  enum ClientRefusal: Error, Hashable {
    case missingKey
    /// The key is not one of this server's, or was revoked.
    case unknownKey
    case missingScope
    /// A key that must be kept secret is part of the URL.
    case secretKeyInURL
    /// The app does not open the protocol.
    case notServed
    case tooManyRequests(ClientRateLimit.Exceeded)
  }

  extension ClientRefusal {
    /// The refusal as problem details, for protocols that have no errors of their own for it.
    var problem: Problem {
      switch self {
      case .missingKey, .unknownKey:
        Problem(.unauthorized, "unauthorized", "The request needs a key of this server: pk_…")
      case .missingScope: .forbidden(.client)
      case .secretKeyInURL:
        Problem(
          .unauthorized, "secret-key-in-url",
          "The URL contains a secret key. Revoke it, and use a key with the scope client instead.")
      case .notServed: .notFound
      case .tooManyRequests(let exceeded):
        Problem(
          .tooManyRequests, "too-many-requests", "The address sends too many requests. Try again later.",
          retryAfter: exceeded.retryAfter)
      }
    }
  }
#endif
