// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
package import ReceiptCrypto
internal import ReceiptSigning
package import ReceiptVerification

/// The policy of a test vector, from the flags of `receipt-tool verify` in the manifest.
package struct VectorPolicy: Sendable {
  /// The error for an unknown flag or an invalid value.
  package struct UnknownFlag: Error, CustomStringConvertible {
    package let description: String
  }

  /// A verifier with this policy. Without `--time` its clock is fixed in 2026.
  package let verifier: ReceiptVerifier

  /// Reads flags.
  ///
  /// - Throws: ``UnknownFlag``, or the errors of `certificate` and `appKey`.
  package init(
    arguments: [String], certificate: (String) throws -> Certificate?, appKey: (String) throws -> PublicKey?
  ) throws {
    var policy = VerificationPolicy(bundleIds: .any, environments: [])
    var roots: [Certificate] = []
    var intermediates: [Certificate] = []
    var admitsXcode = false
    var bundleIds: Set<String> = []
    var kinds: Set<ReceiptKind> = []
    var algorithms: Set<ReceiptAlgorithm> = []
    var index = 0
    while index < arguments.count {
      let flag = arguments[index]
      index += 1
      if flag == "--admit-xcode" {
        admitsXcode = true
        continue
      }
      if flag == "--accept-claimed-environment" {
        policy.acceptsClaimedEnvironment = true
        continue
      }
      guard index < arguments.count else { throw UnknownFlag(description: "\(flag) without a value") }
      let value = arguments[index]
      index += 1
      func parsed<Value>(_ parsed: Value?) throws -> Value {
        guard let parsed else { throw UnknownFlag(description: "\(flag) \(value)") }
        return parsed
      }
      switch flag {
      case "--trust": roots.append(try parsed(certificate(value)))
      case "--intermediate": intermediates.append(try parsed(certificate(value)))
      case "--play-key", "--huawei-key":
        let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw UnknownFlag(description: "\(flag) \(value)") }
        policy.appKeys.insert(
          AppKey(
            flag == "--play-key" ? .googlePlay : .huawei, package: parts[0],
            publicKey: try parsed(appKey(parts[1]))))
      case "--bundle-id": bundleIds.insert(value)
      case "--environment": policy.environments.insert(try parsed(.init(rawValue: value)))
      case "--kind": kinds.insert(try parsed(.init(rawValue: value)))
      case "--algorithm": algorithms.insert(try parsed(.init(rawValue: value)))
      case "--app-apple-id": policy.appAppleId = try parsed(Int64(value))
      case "--max-age": policy.maximumAge = try parsed(Double(value))
      case "--time": policy.timeRule = .at(try Timestamp(iso8601: value))
      case "--device-id": policy.deviceIdentifier = try parsed(DeviceIdentifier.bytes(value))
      default: throw UnknownFlag(description: flag)
      }
    }
    if !bundleIds.isEmpty { policy.bundleIds = .oneOf(bundleIds) }
    if !kinds.isEmpty { policy.kinds = kinds }
    if !algorithms.isEmpty { policy.algorithms = algorithms }
    if admitsXcode {
      policy.selfSignedTesting = .pinned(certificates: roots.filter { !$0.isCertificateAuthority })
    }
    let clock = FixedClock(Timestamp(secondsSince1970: 1_767_225_600))
    verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: roots.filter(\.isCertificateAuthority)), policy: policy,
      intermediates: intermediates, clock: clock.reading)
  }
}
