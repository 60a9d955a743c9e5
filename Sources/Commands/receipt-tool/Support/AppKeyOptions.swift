// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification

extension AppKeyOptions {
  /// Indicates whether a key is given. Options about purchases of other stores take effect only then.
  var isGiven: Bool { !playKeys.isEmpty || !huaweiKeys.isEmpty }

  func validate() throws {
    try refuse(["--admit-short-keys": admitsShortKeys], unless: isGiven, "needs --play-key or --huawei-key")
    try refuse(
      [
        "--play-environment": !playEnvironments.isEmpty,
        "--unstated-environment": unstatedEnvironment != .ask,
      ],
      unless: !playKeys.isEmpty, "needs --play-key")
    try refuse(
      ["--huawei-environment": !huaweiEnvironments.isEmpty], unless: !huaweiKeys.isEmpty, "needs --huawei-key"
    )
    for (option, values) in [("--play-key", playKeys), ("--huawei-key", huaweiKeys)] {
      for value in values where Self.parts(value) == nil {
        throw ValidationError(
          "\(option) takes PACKAGE=FILE, such as com.example.app=play-key.txt, not \(value).")
      }
    }
  }

  /// Adds the keys to a policy.
  ///
  /// - Throws: `ValidationError` for keys of kinds that are not accepted; an exit code if a file cannot be read.
  func apply(to policy: inout VerificationPolicy, kinds: [ReceiptKind]) throws {
    func isAccepted(_ some: [ReceiptKind]) -> Bool { kinds.isEmpty || kinds.contains { some.contains($0) } }
    try refuse(
      ["--play-key": !playKeys.isEmpty], unless: isAccepted([.googlePlayPurchase, .googlePlayLicense]),
      "needs --kind google-play-purchase or google-play-license, or no --kind")
    try refuse(
      ["--huawei-key": !huaweiKeys.isEmpty], unless: isAccepted([.huaweiPurchase]),
      "needs --kind huawei-purchase, or no --kind")
    for (store, values) in [(PurchaseStore.googlePlay, playKeys), (.huawei, huaweiKeys)] {
      for value in values {
        guard let (package, file) = Self.parts(value) else { continue }
        policy.appKeys.insert(AppKey(store, package: package, publicKey: try Self.key(in: file)))
      }
    }
    policy.admitsShortKeys = admitsShortKeys
    policy.unstatedEnvironment = unstatedEnvironment
    for (store, environments) in [
      (PurchaseStore.googlePlay, playEnvironments), (.huawei, huaweiEnvironments),
    ]
    where !environments.isEmpty {
      policy.otherStores[store] = Set(environments)
    }
  }

  private static func parts(_ value: String) -> (package: String, file: String)? {
    let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty ? (parts[0], parts[1]) : nil
  }

  private static func key(in file: String) throws -> PublicKey {
    let contents = try InputFile.contents(of: file, limit: 1 << 20)
    do throws(CryptoError) {
      return try PublicKey(inFile: contents)
    } catch {
      throw ToolExit.failure(.unreadableInput, "\(GivenValue.described(file)): \(error.message)")
    }
  }
}
