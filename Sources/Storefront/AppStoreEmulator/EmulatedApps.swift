// SPDX-License-Identifier: Apache-2.0

/// The apps that one server serves, each with its own store.
///
/// A request whose path begins with `/apps/BUNDLE` goes to that app, controls included. Any other request goes to the
/// app that its bearer token names (`bid`), or to the first app if the token names no served app.
package struct EmulatedApps: Sendable {
  /// Answers a request of a store besides the App Store; `nil` for any other request.
  package typealias OtherStore = @Sendable (EmulatorRequest) async -> EmulatorDelivery?

  /// The stores, of one environment and different apps; at least one.
  package let stores: [EmulatedAppStore]
  private let other: OtherStore?
  private let shutdown: @Sendable () -> Void

  /// Serves apps, beside another store if there is one; `shutdown` ends the server.
  package init(
    _ stores: [EmulatedAppStore], beside other: OtherStore? = nil,
    shutdown: @escaping @Sendable () -> Void = {}
  ) {
    precondition(!stores.isEmpty, "a server has an app")
    self.stores = stores
    self.other = other
    self.shutdown = shutdown
  }

  /// Answers a request: a control, or a request to an app with the next fault of the app's script.
  package func deliver(_ request: EmulatorRequest) async -> EmulatorDelivery {
    if let delivery = await other?(request) { return delivery }
    var request = request
    let store: EmulatedAppStore
    if request.path.count > 1, request.path[0] == "apps" {
      let name = request.path[1]
      guard let named = stores.first(where: { $0.configuration.bundleId == name }) else {
        return EmulatorDelivery(.text("There is no app \(name).\n", status: 404))
      }
      store = named
      request.path.removeFirst(2)
    } else {
      // The token is verified later.
      let name = request.bearerToken.flatMap(PresentedToken.init)?.text("bid")
      store = stores.first { $0.configuration.bundleId == name } ?? stores[0]
    }
    if let response = await EmulatorControl(store, shutdown: shutdown).respond(to: request) {
      return EmulatorDelivery(response)
    }
    return await store.deliver(request)
  }
}
