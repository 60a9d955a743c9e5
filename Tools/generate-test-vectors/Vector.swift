// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification

/// A receipt, the policy for evaluating it, and the expected verdict.
struct Vector {
  enum Expectation {
    case valid(Facts)
    /// An invalid or undetermined verdict.
    case failure(ReasonCode?)
  }

  /// The facts that a valid verdict must report.
  struct Facts {
    var environment: ReceiptEnvironment?
    var bundleId: String?
    var signedAt: Timestamp?
    var algorithm: ReceiptAlgorithm
    var transactions: [Transaction]
  }

  /// The kind of the receipt, which names the folder of the file.
  let kind: ReceiptKind
  let name: String
  let fileExtension: String
  let summary: String
  let contents: [UInt8]
  let policy: PolicyFlags
  let expectation: Expectation

  var path: String { "\(kind.rawValue)/\(name).\(fileExtension)" }
}

/// A policy as flags of `receipt-tool verify`.
struct PolicyFlags {
  var trust: [String]
  var intermediates: [String] = []
  var bundleIds = ["com.example.app"]
  var environments = ["production", "sandbox"]
  /// Any other flags with their values.
  var others: [String] = []

  var arguments: [String] {
    trust.flatMap { ["--trust", $0] } + intermediates.flatMap { ["--intermediate", $0] }
      + bundleIds.flatMap { ["--bundle-id", $0] } + environments.flatMap { ["--environment", $0] } + others
  }
}

/// Collects vectors of one format.
struct VectorList {
  typealias PolicyChange = (inout PolicyFlags) -> Void

  let kind: ReceiptKind
  let fileExtension: String
  /// The policy of the vectors that do not change it.
  let policy: PolicyFlags
  /// The word for the making of a receipt.
  var made = "Signed"
  private(set) var vectors: [Vector] = []

  init(_ kind: ReceiptKind, _ fileExtension: String, _ policy: PolicyFlags) {
    self.kind = kind
    self.fileExtension = fileExtension
    self.policy = policy
  }

  /// Adds a valid receipt.
  mutating func accept(
    _ name: String, of kind: ReceiptKind? = nil, _ summary: String, as fileExtension: String? = nil,
    _ contents: some Sequence<UInt8>, _ facts: Vector.Facts, policy change: PolicyChange? = nil
  ) {
    add(name, kind, summary, fileExtension, contents, change, .valid(facts))
  }

  /// Adds a valid receipt with the usual summary and policy of its name.
  mutating func accept(_ name: String, _ contents: some Sequence<UInt8>, _ facts: Vector.Facts) {
    add(name, nil, nil, nil, contents, nil, .valid(facts))
  }

  /// Adds a receipt that is not valid. By default, the name begins with the code of the reason.
  mutating func refuse(
    _ name: String, of kind: ReceiptKind? = nil, _ summary: String, _ contents: some Sequence<UInt8>,
    _ code: ReasonCode? = nil,
    policy change: PolicyChange? = nil
  ) {
    add(name, kind, summary, nil, contents, change, .failure(code ?? Self.code(name)))
  }

  /// Adds a receipt that is not valid, with the usual summary and policy of its name.
  mutating func refuse(_ name: String, of kind: ReceiptKind? = nil, _ contents: some Sequence<UInt8>) {
    add(name, kind, nil, nil, contents, nil, .failure(Self.code(name)))
  }

  private static func code(_ name: String) -> ReasonCode? {
    ReasonCode.allCases.filter { name.hasPrefix($0.rawValue) }.max { $0.rawValue.count < $1.rawValue.count }
  }

  private mutating func add(
    _ name: String, _ kind: ReceiptKind?, _ summary: String?, _ fileExtension: String?,
    _ contents: some Sequence<UInt8>,
    _ change: PolicyChange?, _ expectation: Vector.Expectation
  ) {
    let usual = usual(name)
    var policy = policy
    (change ?? usual?.policy)?(&policy)
    vectors.append(
      Vector(
        kind: kind ?? self.kind, name: name, fileExtension: fileExtension ?? self.fileExtension,
        summary: summary ?? usual?.summary ?? "", contents: Array(contents), policy: policy,
        expectation: expectation))
  }

  static let device = "00112233-4455-6677-8899-aabbccddeeff"

  /// The summary and the policy of vectors that several formats have, around the sample receipts'
  /// 2025-10-01T07:09:12Z.
  private func usual(_ name: String) -> (summary: String, policy: PolicyChange)? {
    func flags(_ flags: String...) -> PolicyChange { { $0.others += flags } }
    let production: PolicyChange = { $0.environments = ["production"] }
    switch name {
    case "valid-production":
      return (
        "A production receipt under a policy that accepts production alone.",
        {
          production(&$0)
          flags("--app-apple-id", "1234567890")(&$0)
        }
      )
    case "valid-no-environment":
      return ("It names no environment; production and sandbox are accepted.", { _ in })
    case "valid-device":
      return ("Bound to the device that the policy names.", flags("--device-id", Self.device))
    case "wrong-device":
      return ("Bound to another device.", flags("--device-id", "ffeeddcc-bbaa-9988-7766-554433221100"))
    case "wrong-device-unbound":
      return ("Bound to no device, under a policy that names one.", flags("--device-id", Self.device))
    case "wrong-kind":
      let other = kind == .appReceipt ? "signed-transaction" : "app-receipt"
      return ("A good receipt of a kind that the policy does not accept.", flags("--kind", other))
    case "wrong-bundle": return ("A good receipt of another app.", { $0.bundleIds = ["com.example.other"] })
    case "wrong-app":
      return ("A good receipt of another app by its App Store identifier.", flags("--app-apple-id", "1"))
    case "wrong-environment":
      return ("A sandbox receipt under a policy that accepts production alone.", production)
    case "environment-unproven":
      return ("It names no environment, under a policy that accepts production alone.", production)
    case "signed-in-future":
      return (
        "\(made) two minutes after the instant at which it is evaluated.",
        flags("--time", "2025-10-01T07:07:12Z")
      )
    case "too-old":
      return (
        "\(made) two hours before the instant at which it is evaluated, with an hour allowed.",
        flags("--time", "2025-10-01T09:09:12Z", "--max-age", "3600")
      )
    default: return nil
    }
  }

  /// The flaws of chains of three certificates, with the code of each.
  static func flaws(expired: String) -> [(TestAuthority.Flaw, ReasonCode, String)] {
    [
      (.chainOfTwo, .chainLength, "The root itself issued the leaf."),
      (.chainOfFour, .chainLength, "There are two intermediates."),
      (.foreignRoot, .chainUntrusted, "The root has the right name and is another one."),
      (.forgedUnderGenuineRoot, .chainUntrusted, "The trusted root is appended to a chain of a forger."),
      (.expired, .chainExpired, expired),
      (.leafWithoutMarker, .certificatePurpose, "The leaf lacks the marker of receipt signing."),
      (.intermediateWithoutMarker, .certificatePurpose, "The intermediate lacks its marker."),
      (.intermediateNotAuthority, .certificatePurpose, "The intermediate may not issue certificates."),
      (.leafIsAuthority, .certificatePurpose, "The leaf is an authority."),
      (.leafKeyUsage, .certificatePurpose, "The leaf's key usage does not allow signatures."),
    ]
  }
}
