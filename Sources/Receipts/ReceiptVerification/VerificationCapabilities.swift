// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// The capabilities of the installed libcrypto, determined once at first use.
public struct VerificationCapabilities: Sendable, Hashable {
  /// The version of libcrypto that the process uses.
  package let libcryptoVersion: String
  /// `true` if signatures of frequently used keys are verified with tables of the key's multiples.
  ///
  /// If libcrypto lacks the required functions, the ordinary call is used: slower, with the same results.
  public let hasFixedKeyTables: Bool

  /// The capabilities of this process.
  public static let current = VerificationCapabilities(
    libcryptoVersion: Libcrypto.version, hasFixedKeyTables: FixedKeyVerifier.isAvailable)
}
