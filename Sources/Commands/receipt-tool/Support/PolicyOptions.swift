// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import ReceiptCodec
import ReceiptSigning
public import ReceiptVerification

extension ReceiptEnvironment.Category: ExpressibleByArgument {
  /// Accepts a name in any case: Apple writes `Production` in receipts and `PRODUCTION` in its APIs.
  public init?(argument: String) { self.init(rawValue: argument.lowercased()) }
}
extension ReceiptKind: ExpressibleByArgument {}
extension ReceiptAlgorithm: ExpressibleByArgument {}
extension UnstatedEnvironmentRule: ExpressibleByArgument {}

extension PolicyOptions {
  func validate() throws {
    for (option, seconds) in [("--max-age", maximumAge ?? 0), ("--clock-skew", allowedClockSkew)] {
      guard seconds >= 0, seconds.isFinite else {
        throw ValidationError("\(option) takes seconds, 0 or more.")
      }
    }
    try refuse(
      ["--accept-claimed-environment": acceptsClaimedEnvironment],
      unless: environments.contains(.production) && !environments.contains(.sandbox)
        && (kinds.isEmpty || kinds.contains(.transactionReceipt)),
      "needs --environment production without sandbox, and transaction receipts: others sign their environment"
    )
  }

  func policy(_ trust: TrustOptions.Resolved) throws -> VerificationPolicy {
    let admitsTesting = trust.selfSignedTesting != .refused
    var policy = VerificationPolicy(
      bundleIds: bundleIds.isEmpty ? .any : .oneOf(Set(bundleIds)),
      environments: environments.isEmpty
        ? (admitsTesting ? Set(ReceiptEnvironment.Category.allCases) : [.production, .sandbox])
        : Set(environments))
    policy.appAppleId = appAppleId
    policy.selfSignedTesting = trust.selfSignedTesting
    policy.acceptsClaimedEnvironment = acceptsClaimedEnvironment
    policy.allowedClockSkew = allowedClockSkew
    policy.maximumAge = maximumAge
    if !kinds.isEmpty { policy.kinds = Set(kinds) }
    if !algorithms.isEmpty { policy.algorithms = Set(algorithms) }
    if !markers.isEmpty { policy.markers = Set(try markers.map(Self.markers(_:))) }
    policy.timeRule = try timeRule()
    if let deviceId {
      guard let device = DeviceIdentifier.bytes(deviceId) else {
        throw ValidationError("--device-id takes a UUID or an even number of hexadecimal digits")
      }
      policy.deviceIdentifier = device
    }
    return policy
  }

  private func timeRule() throws -> TimeRule {
    switch time {
    case "signing": return .atSigning
    case "now": return .now
    default: return .at(try parseInstant(time, "--time", or: "\"signing\", \"now\" or ", why: true))
    }
  }

  static func markers(_ text: String) throws -> CertificateMarkers {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let isOID = { (part: String) in
      part.split(separator: ".", omittingEmptySubsequences: false).count > 1
        && part.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { UInt64($0) != nil }
    }
    guard parts.count == 2, parts.allSatisfy(isOID) else {
      throw ValidationError(
        "--marker takes two object identifiers, such as 1.3.6.1.4.1.99999.1,1.3.6.1.4.1.99999.2")
    }
    return CertificateMarkers(leaf: parts[0], intermediate: parts[1])
  }
}
