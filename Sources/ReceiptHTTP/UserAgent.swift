// SPDX-License-Identifier: Apache-2.0

/// What requests say that they come from.
package enum UserAgent {
  /// The version of this package.
  package static let version = "0.1.0"
  package static let header = HTTPHeader("User-Agent", "ReceiptKit/\(version)")
}
