// SPDX-License-Identifier: Apache-2.0

/// Why a receipt is not valid. The raw values are stable: they appear in `receipt-tool`'s output, in logs and
/// in audit trails.
public enum ReasonCode: String, Sendable, Hashable, CaseIterable, Codable {
  /// The bytes are not a receipt, or not a well-formed one.
  case malformed
  /// The signature algorithm, key type or signature version is not one that this kind of receipt uses, or
  /// the policy does not accept it.
  case unsupportedAlgorithm = "unsupported-algorithm"
  /// The certificate chain does not have exactly three certificates: leaf, intermediate, root.
  case chainLength = "chain-length"
  /// No path of really checked signatures leads from the signer to a trusted root.
  case chainUntrusted = "chain-untrusted"
  /// A certificate of the path was not valid, not yet or no more, at the instant of the time rule.
  case chainExpired = "chain-expired"
  /// A certificate is not meant for this: a marker extension, CA flag, key usage or path length is wrong.
  case certificatePurpose = "certificate-purpose"
  /// The signature does not match the signed bytes.
  case signatureMismatch = "signature-mismatch"
  /// The receipt carries no signature.
  case unsigned
  /// The receipt is of a kind that the policy does not accept.
  case wrongKind = "wrong-kind"
  /// The receipt is of another app.
  case wrongBundle = "wrong-bundle"
  /// The receipt states another App Store identifier, or none where it must.
  case wrongApp = "wrong-app"
  /// The receipt is of an environment that the policy does not accept.
  case wrongEnvironment = "wrong-environment"
  /// The environment is not proven by the signature, and the policy demands proof. Undetermined.
  case environmentUnproven = "environment-unproven"
  /// The receipt was made for another device, or for none.
  case wrongDevice = "wrong-device"
  /// The signing time lies in the future, or after the instant that the time rule names.
  case signedInFuture = "signed-in-future"
  /// The receipt was signed longer ago than the policy allows.
  case tooOld = "too-old"
  /// The time rule needs the signing time, and the receipt does not state it. Undetermined.
  case signingTimeMissing = "signing-time-missing"
  /// The issuer's certificate is not available: the receipt does not embed it and the caller did not supply it.
  /// Undetermined.
  case issuerMissing = "issuer-missing"
  /// The policy names no key of the app that the receipt is of. Undetermined.
  case keyMissing = "key-missing"
  /// A signed part inside a notification does not agree with the notification.
  case nestedMismatch = "nested-mismatch"
  /// A remote checker says that the purchase was revoked or refunded.
  case revoked
  /// A checker does not know the purchase, contradicts the receipt, or demands an account or a running subscription
  /// that is not the purchase's.
  case checkerRefused = "checker-refused"
  /// A remote checker could not answer. Undetermined.
  case checkerUnavailable = "checker-unavailable"
  /// A computation failed that says nothing of the receipt: libcrypto lacked memory or an algorithm. Undetermined;
  /// verify the receipt again.
  case internalFault = "internal-fault"
}
