// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

extension VerificationCapabilities {
  /// The capabilities of this process.
  public static let current = VerificationCapabilities(
    libcryptoVersion: Libcrypto.version, hasFixedKeyTables: FixedKeyVerifier.isAvailable)
}
