// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import ReceiptCodec

/// The system's clock, which a verifier asks unless it is given another.
public enum SystemClock {
  /// The current time.
  public static func now() -> Timestamp { Timestamp(Date()) }
}
