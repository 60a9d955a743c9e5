// SPDX-License-Identifier: Apache-2.0

package import CommandOutput
package import ReceiptCodec
package import ReceiptCrypto
package import ReceiptSigning

/// The error for what a caller gave and nothing can be made of, with the object `error` that says so.
package struct DocumentError: Error {
  package let status: ExitStatus
  /// The code of the part that failed; `nil` for that of the status.
  package var code: String?
  package let message: String
  package var place: String?

  package init(_ status: ExitStatus, _ message: String, code: String? = nil, at place: String? = nil) {
    self.status = status
    self.message = message
    self.code = code
    self.place = place
  }

  /// An error in a document that the caller wrote.
  package init(_ error: MalformedReceipt) {
    self.init(.usage, error.message, code: error.code.rawValue, at: error.place.description)
  }

  package init(_ error: SigningError) {
    self.init(ExitStatus(of: error), error.message, code: error.code.rawValue, at: error.place)
  }

  package init(_ error: CryptoError, at place: String) {
    self.init(.unreadableInput, error.message, code: error.code.rawValue, at: place)
  }

  /// A value of a document that is well formed and impossible.
  package static func invalid(_ place: String, _ message: String) -> DocumentError {
    DocumentError(.usage, message, code: "invalid-value", at: place)
  }

  package var json: [UInt8] {
    Output.Error(
      code: code.map(ExitStatus.errorCode) ?? ExitStatus.errorCode(of: status.rawValue), message: message,
      exitCode: Int64(status.rawValue), option: nil, source: nil, place: place
    ).object
  }
}
