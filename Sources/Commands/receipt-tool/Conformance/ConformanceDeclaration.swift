// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec

/// What the harness supports, which a runner reads first.
enum ConformanceDeclaration {
  /// The subjects of cases beyond the kinds of receipts and the members of policies.
  private static let subjects = [
    "clock", "nested-parts", "xcode", "wrappers", "resource-limits", "standing", "entitlements", "grants",
    "play-entitlements", "play-standing",
    "note",
    "checkpoint",
    "cosignature",
    "inclusion",
    "consistency", "tlog-proof", "tlog-tiles", "tree", "witness", "witness-policy", "sizes-64-bit",
    "name-constraints",
    "certificate-policies",
    "ocsp", "ocsp-sha256", "crl", "verify-all",
  ]
  /// The members of a policy that are features of their own.
  private static let policies = [
    "accept-claimed-environment", "admit-short-keys", "admit-xcode", "algorithms", "allowed-clock-skew",
    "any-bundle-id", "device-id", "huawei-environments", "kinds", "markers", "maximum-age",
    "maximum-byte-count",
    "play-environments", "require-current", "time", "unstated-environment", "xcode-certificates",
  ]
  private static let reported = [
    "environment", "bundleId", "signedAt", "algorithm", "transactions", "license", "standing", "entitlements",
    "items", "access", "changes", "remaining",
    "decisions", "repetitions",
    "text", "signers", "origin", "size", "rootHash", "index", "witnesses", "timestamps", "inclusion",
    "consistency", "cosignature",
    "status", "revocationDate", "revocationReason", "verdicts",
  ]

  static var line: [UInt8] {
    let features = ReceiptKind.allCases.map(\.rawValue) + policies.map { "policy-\($0)" } + subjects
    return JSONValue.members(
      ("harness", .string("receipt-tool")), ("version", .string(ToolkitVersion.current)),
      ("features", .array(features.map { .string($0) })), ("reports", .array(reported.map { .string($0) })),
      ("reasons", .bool(true)), ("places", .bool(true))
    ).encoded() + [UInt8(ascii: "\n")]
  }
}
