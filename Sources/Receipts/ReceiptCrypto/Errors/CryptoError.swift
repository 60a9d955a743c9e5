// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// The error of a failed operation with a key, certificate or signature.
///
/// An invalid signature is not an error: verification then returns `false`.
public struct CryptoError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// The code of the error.
  public let code: Code
  /// The place of the error: a byte offset into the DER, such as `byte 12`; empty if there is no single place.
  public let place: String
  /// A description of the error and of what to do about it, in one or two sentences.
  public let message: String
  /// OpenSSL's errors, oldest first; empty if the error did not come from OpenSSL.
  package let openSSLErrors: [OpenSSLError]

  package init(
    _ code: Code, at place: String = "", _ message: String, openSSLErrors: [OpenSSLError] = []
  ) {
    self.code = code
    self.place = place
    self.message = message
    self.openSSLErrors = openSSLErrors
  }

  /// The message with its place and OpenSSL's last error.
  public var description: String {
    let located = place.isEmpty ? message : "\(message) (\(place))"
    guard let last = openSSLErrors.last else { return located }
    return "\(located) (OpenSSL: \(last))"
  }
}
