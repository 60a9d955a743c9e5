// SPDX-License-Identifier: Apache-2.0

#if Server
  /// The protocols of published apps, and of servers made for another verification service, that some app opens.
  struct ClientProtocols {
    private(set) var routes: [Route] = []
    /// The answers to methods that are no operations of the API.
    private(set) var endpoints: [Endpoint] = []
    /// The entrance of OpenIAP; `nil` if no app opens it.
    private(set) var openIAP: ClientGate?

    init(
      _ configuration: ServiceConfiguration, identity: Identity, admission: Admission,
      entitlements: ServiceEntitlements
    ) {
      let limit = ClientRateLimit(
        burst: configuration.limits.clientBurst, rate: configuration.limits.clientRate)
      let opened = configuration.apps.reduce(into: Set<ClientProtocol>()) { $0.formUnion($1.clientProtocols) }
      for clientProtocol in ClientProtocol.allCases where opened.contains(clientProtocol) {
        let gate = ClientGate(
          clientProtocol: clientProtocol, identity: identity, admission: admission, limit: limit,
          trustedProxies: configuration.trustedProxies, entitlements: entitlements)
        switch clientProtocol {
        case .openIAP:
          openIAP = gate
          routes += OpenIAPController(gate: gate).routes
        case .cordova:
          let controller = CordovaController(gate: gate)
          routes += controller.routes
          endpoints += controller.endpoints
        case .verifyReceipt:
          let controller = VerifyReceiptController(gate: gate)
          routes += controller.routes
          endpoints += controller.endpoints
        }
      }
    }
  }
#endif
