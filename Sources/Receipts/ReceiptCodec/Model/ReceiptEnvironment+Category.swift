// SPDX-License-Identifier: Apache-2.0

extension ReceiptEnvironment {
  /// The kind of environment that a policy accepts or refuses.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// Real purchases: `Production`, `ProductionVPP`.
    case production
    /// Test purchases made through the App Store: `Sandbox`, `ProductionSandbox`, `ProductionVPPSandbox`.
    case sandbox
    /// StoreKit testing in Xcode: `Xcode`.
    case xcode
    /// Unit tests: `LocalTesting`.
    case localTesting = "local-testing"
  }

  /// Which environment the spelling means; `nil` for one that is unknown, which no policy accepts.
  public var category: Category? {
    switch self {
    case .production, .productionVPP: .production
    case .sandbox, .productionSandbox, .productionVPPSandbox: .sandbox
    case .xcode: .xcode
    case .localTesting: .localTesting
    case .unknown: nil
    }
  }
  /// Apple's spelling of the environment that is meant: `Production` also for `ProductionVPP`. One that is unknown is
  /// spelled as the receipt spells it.
  package var plainName: String { category?.plainName ?? rawValue }
}

extension ReceiptEnvironment.Category {
  /// Apple's spelling.
  package var plainName: String {
    switch self {
    case .production: "Production"
    case .sandbox: "Sandbox"
    case .xcode: "Xcode"
    case .localTesting: "LocalTesting"
    }
  }
}
