// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptCrypto
public import ReceiptVerification

extension SHA256Digest {
  /// Creates the digest by which entries name a policy: SHA-256 of ``PolicyDescription/text``.
  public init(of policy: VerificationPolicy) { self.init(of: Array(PolicyDescription(policy).text.utf8)) }
}

/// A policy as text with only one spelling, whose digest entries have, and which a trail keeps for later readers.
package struct PolicyDescription: Sendable, Hashable {
  /// The text: lines of a key, a space and a value, as in an entry; see <doc:Recording>.
  package let text: String

  package init(_ policy: VerificationPolicy) {
    var text = Self.header
    func add(_ key: String, _ value: String) {
      text += "\(key) \(String(decoding: EntryText.encoded(value), as: UTF8.self))\n"
    }
    // A line for each element of a set, in the order of their bytes.
    func add(_ key: String, _ values: [String]) {
      for value in values.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) { add(key, value) }
    }
    switch policy.bundleIds {
    case .any: add("bundle-rule", "any")
    case .oneOf(let identifiers):
      add("bundle-rule", "one-of")
      add("bundle", identifiers.map { $0 })
    }
    if let appAppleId = policy.appAppleId { add("app", String(appAppleId)) }
    add("environment", policy.environments.map(\.rawValue))
    add(
      "store-environment",
      policy.otherStores.flatMap { store, environments in
        environments.map { "\(store.rawValue),\($0.rawValue)" }
      })
    // A store of which nothing is accepted has no line above.
    add("refused-store", policy.otherStores.filter(\.value.isEmpty).map(\.key.rawValue))
    if policy.unstatedEnvironment != .ask { add("unstated-environment", policy.unstatedEnvironment.rawValue) }
    add("kind", policy.kinds.map(\.rawValue))
    switch policy.timeRule {
    case .atSigning: add("time", "at-signing")
    case .now: add("time", "now")
    case .at(let instant): add("time", "at-" + Self.text(instant.millisecondsSince1970))
    }
    if let maximumAge = policy.maximumAge { add("maximum-age", Self.text(maximumAge)) }
    add("clock-skew", Self.text(policy.allowedClockSkew))
    add("marker", policy.markers.map { "\($0.leaf),\($0.intermediate)" })
    if policy.deviceIdentifier != nil { add("device", "demanded") }
    add("algorithm", policy.algorithms.map(\.rawValue))
    switch policy.selfSignedTesting {
    case .refused: add("self-signed", "refused")
    case .pinned(let fingerprints):
      add("self-signed", "pinned")
      add("pinned", fingerprints.map(Base64.encodeToString))
    }
    add(
      "app-key",
      policy.appKeys.all.map { "\($0.store.rawValue),\($0.package),\($0.publicKey.sha256FingerprintHex)" })
    if policy.admitsShortKeys { add("short-keys", "admitted") }
    add("claimed-environment", policy.acceptsClaimedEnvironment ? "accepted" : "insufficient")
    if policy.requiresCurrentPurchase { add("current-purchase", "required") }
    switch policy.offlineRule {
    case .insufficient: add("offline", "insufficient")
    case .sufficient: add("offline", "sufficient")
    case .sufficientWithout(let names):
      add("offline", "sufficient-without")
      add("without", names.map { $0 })
    }
    self.text = text
  }

  private static let header = "receiptkit.dev/verification-policy@v1\n"
  static let beginning = Array(header.utf8)

  /// Returns whole numbers as digits only, and others as the shortest decimal that reads as the same number.
  private static func text(_ number: Double) -> String {
    if let whole = Int64(exactly: number) { return String(whole) }
    return number.description
  }
}
