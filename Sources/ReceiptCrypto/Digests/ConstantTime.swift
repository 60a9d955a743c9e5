// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Comparison that does not tell by its duration where two secrets differ.
public enum ConstantTime {
  /// Whether both are of equal length and content. The time depends on the lengths alone.
  public static func equals(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
  }
}
