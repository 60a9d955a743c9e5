// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// The capabilities of the installed libcrypto, determined once at first use.
public struct VerificationCapabilities: Sendable, Hashable {
  /// The version of libcrypto that the process runs with.
  public let libcryptoVersion: String
  /// Whether signatures of a key that is met often are verified by tables of its multiples. Where libcrypto
  /// lacks what that needs, the ordinary call is used: slower, with the same answers.
  public let hasFixedKeyTables: Bool

  /// What this process has.
  public static let current = VerificationCapabilities(
    libcryptoVersion: Libcrypto.version, hasFixedKeyTables: FixedKeyVerifier.isAvailable)
}
