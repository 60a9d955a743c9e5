// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import ReceiptCodec

/// The instant at which the certificates of a receipt must be valid.
public enum TimeRule: Sendable, Hashable {
  /// When the receipt was signed: history stays valid after its certificates expire. The signing time comes
  /// from the signed data, so whoever holds a stolen, expired key could backdate; combine it with
  /// ``VerificationPolicy/maximumAge`` where that matters.
  case atSigning
  /// At a given instant, as an auditor asks. A receipt signed after it is refused.
  case at(Timestamp)
  /// Now, by the verifier's clock.
  case now
}

/// The system's clock, which a verifier asks unless it is given another.
public enum SystemClock {
  /// The current time.
  public static func now() -> Timestamp { Timestamp(Date()) }
}
