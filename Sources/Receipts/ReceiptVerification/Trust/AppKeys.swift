// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
package import ReceiptCrypto

/// The app keys that a policy trusts; an app may have several at one store, for example when its key is replaced.
///
/// ```swift
/// policy.appKeys = AppKeys([
///   AppKey(.googlePlay, package: "com.example.app", publicKey: try PublicKey(inFile: contents))
/// ])
/// ```
public struct AppKeys: Sendable, Hashable, ExpressibleByArrayLiteral {
  /// All keys in the order given, without duplicates.
  package private(set) var all: [AppKey] = []
  /// The keys by package name.
  private var byPackage: [String: [AppKey]] = [:]

  /// Trusts the given keys.
  public init(_ keys: [AppKey] = []) { for key in keys { insert(key) } }

  /// Trusts the given keys.
  public init(arrayLiteral keys: AppKey...) { self.init(keys) }

  package mutating func insert(_ key: AppKey) {
    guard !all.contains(key) else { return }
    all.append(key)
    byPackage[key.package, default: []].append(key)
  }

  /// Returns the keys of an app at a store, in the order given; packages are compared byte for byte.
  package func keys(of package: String, at store: PurchaseStore) -> [PublicKey] {
    (byPackage[package] ?? []).filter { $0.store == store && UTF8Text.isIdentical($0.package, package) }
      .map(\.publicKey)
  }

  func contains(_ package: String, at store: PurchaseStore) -> Bool {
    (byPackage[package] ?? []).contains { $0.store == store && UTF8Text.isIdentical($0.package, package) }
  }
}
