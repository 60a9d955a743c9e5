// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Which App Store is called: Apple's for production or for the sandbox, or a server that speaks as they do.
public struct AppStoreServerAddress: Sendable, Hashable {
  /// The environment of the purchases that it knows.
  public let environment: ReceiptEnvironment.Category
  /// What all paths begin with.
  public let url: RemoteURL

  /// Creates one for a server of your own, such as an emulator.
  public init(_ environment: ReceiptEnvironment.Category, at url: RemoteURL) {
    self.environment = environment
    self.url = url
  }

  /// `https://api.storekit.apple.com`.
  public static let production = AppStoreServerAddress(
    .production, at: RemoteURL(secureHost: "api.storekit.apple.com"))
  /// `https://api.storekit-sandbox.apple.com`.
  public static let sandbox = AppStoreServerAddress(
    .sandbox, at: RemoteURL(secureHost: "api.storekit-sandbox.apple.com"))
}
