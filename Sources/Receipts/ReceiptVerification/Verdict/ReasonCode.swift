// SPDX-License-Identifier: Apache-2.0

/// The reason that a receipt is not valid.
///
/// The raw values are stable: they appear in `receipt-tool`'s output, in logs and in audit trails.
public enum ReasonCode: String, Sendable, Hashable, CaseIterable, Codable {
  /// The bytes are not a receipt, or not a well-formed one.
  case malformed
  /// This kind of receipt does not use the signature algorithm, key type or signature version, or the policy does not
  /// accept it.
  case unsupportedAlgorithm = "unsupported-algorithm"
  /// The certificate chain does not have exactly three certificates: leaf, intermediate, root.
  case chainLength = "chain-length"
  /// No path of valid signatures leads from the signer to a trusted root.
  case chainUntrusted = "chain-untrusted"
  /// A certificate of the path is expired or not yet valid at the instant of the time rule.
  case chainExpired = "chain-expired"
  /// A certificate is not intended for receipts: a marker extension, CA flag, key usage or path length is wrong.
  case certificatePurpose = "certificate-purpose"
  /// The signature does not match the signed bytes.
  case signatureMismatch = "signature-mismatch"
  /// The receipt carries no signature.
  case unsigned
  /// The receipt is of a kind that the policy does not accept.
  case wrongKind = "wrong-kind"
  /// The receipt is of another app.
  case wrongBundle = "wrong-bundle"
  /// The receipt states another App Store identifier, or it states no identifier although it must.
  case wrongApp = "wrong-app"
  /// The receipt is of an environment that the policy does not accept.
  case wrongEnvironment = "wrong-environment"
  /// The signature does not prove the environment, and the policy requires proof; undetermined.
  case environmentUnproven = "environment-unproven"
  /// The receipt was made for another device, or is bound to no device.
  case wrongDevice = "wrong-device"
  /// The signing time lies in the future, or after the instant that the time rule names.
  case signedInFuture = "signed-in-future"
  /// The receipt was signed longer ago than the policy allows.
  case tooOld = "too-old"
  /// The time rule needs the signing time, and the receipt does not state it; undetermined.
  case signingTimeMissing = "signing-time-missing"
  /// The issuer's certificate is unavailable, because neither the receipt nor the caller supplied it; undetermined.
  case issuerMissing = "issuer-missing"
  /// The policy names no key for the receipt's app; undetermined.
  case keyMissing = "key-missing"
  /// A signed part inside a notification does not agree with the notification.
  case nestedMismatch = "nested-mismatch"
  /// A remote checker reports that the purchase was revoked or refunded.
  case revoked
  /// A checker does not know the purchase, contradicts the receipt, or requires an account or an active subscription
  /// that the purchase does not have.
  case checkerRefused = "checker-refused"
  /// A remote checker could not answer; undetermined.
  case checkerUnavailable = "checker-unavailable"
  /// A computation failed for a reason unrelated to the receipt: libcrypto lacked memory or an algorithm; undetermined.
  ///
  /// Verify the receipt again.
  case internalFault = "internal-fault"
}
