// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptVerification

/// A receipt, the policy for evaluating it, and the expected verdict.
struct Vector {
  enum Expectation {
    case valid(Facts)
    case invalid(ReasonCode)
    case undetermined(ReasonCode)
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

  static let es256 = PolicyFlags(trust: ["certificates/es256-root.pem"])
  static let rsa = PolicyFlags(trust: ["certificates/rsa-root.pem"])
  static let transactionReceipt = PolicyFlags(
    trust: ["certificates/rsa-root.pem"], intermediates: ["certificates/rsa-intermediate.pem"])

  func with(_ change: (inout PolicyFlags) -> Void) -> PolicyFlags {
    var copy = self
    change(&copy)
    return copy
  }

  func adding(_ flags: String...) -> PolicyFlags { with { $0.others += flags } }

  var arguments: [String] {
    trust.flatMap { ["--trust", $0] } + intermediates.flatMap { ["--intermediate", $0] }
      + bundleIds.flatMap { ["--bundle-id", $0] } + environments.flatMap { ["--environment", $0] } + others
  }
}

/// Times in policies, around the sample receipts' 2025-10-01T07:09:12Z.
enum Instant {
  static let twoMinutesBefore = "2025-10-01T07:07:12Z"
  static let twoHoursAfter = "2025-10-01T09:09:12Z"
}
