// SPDX-License-Identifier: Apache-2.0

extension ReceiptEnvironment {
  /// The category of the environment; `nil` if the environment is unknown, and no policy accepts it.
  public var category: Category? {
    switch self {
    case .production, .productionVPP: .production
    case .sandbox, .productionSandbox, .productionVPPSandbox: .sandbox
    case .xcode: .xcode
    case .localTesting: .localTesting
    case .unknown: nil
    }
  }
  /// Apple's name for the environment's category, for example `Production` for `ProductionVPP` too. An unknown
  /// environment keeps the name that it has in the receipt.
  package var plainName: String { category?.plainName ?? rawValue }
}

extension ReceiptEnvironment.Category {
  package var plainName: String {
    switch self {
    case .production: "Production"
    case .sandbox: "Sandbox"
    case .xcode: "Xcode"
    case .localTesting: "LocalTesting"
    }
  }
}
