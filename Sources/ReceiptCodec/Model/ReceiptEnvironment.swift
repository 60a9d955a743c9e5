// SPDX-License-Identifier: Apache-2.0

/// The store environment that a receipt names: `environment` in a JWS, `receiptType` in an app transaction,
/// attribute 0 in an app receipt.
///
/// The spelling found in the receipt is kept in ``rawValue``; ``category`` says which of the four
/// environments it means.
public struct ReceiptEnvironment: RawRepresentable, Sendable, Hashable {
  /// What a policy accepts or refuses.
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

  /// The spelling in the receipt.
  public let rawValue: String

  /// Creates an environment from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `Production`.
  public static let production = ReceiptEnvironment(rawValue: "Production")
  /// `Sandbox`.
  public static let sandbox = ReceiptEnvironment(rawValue: "Sandbox")
  /// `Xcode`.
  public static let xcode = ReceiptEnvironment(rawValue: "Xcode")
  /// `LocalTesting`.
  public static let localTesting = ReceiptEnvironment(rawValue: "LocalTesting")
  /// `ProductionSandbox`, the spelling of sandbox in an app receipt.
  public static let productionSandbox = ReceiptEnvironment(rawValue: "ProductionSandbox")
  /// `ProductionVPP`: bought through the volume purchase programme.
  public static let productionVPP = ReceiptEnvironment(rawValue: "ProductionVPP")
  /// `ProductionVPPSandbox`.
  public static let productionVPPSandbox = ReceiptEnvironment(rawValue: "ProductionVPPSandbox")

  /// Which environment the spelling means; `nil` for one that is unknown, which no policy accepts.
  public var category: Category? {
    switch self {
    case .production, .productionVPP: .production
    case .sandbox, .productionSandbox, .productionVPPSandbox: .sandbox
    case .xcode: .xcode
    case .localTesting: .localTesting
    default: nil
    }
  }
}
