// SPDX-License-Identifier: Apache-2.0

internal import CommandOutput
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptSigning

/// The failure of a call, which returns it as the object `error`.
struct LibraryError: Error {
  let status: ExitStatus
  /// The code of the part that failed; `nil` for that of the status.
  var code: String?
  let message: String
  var place: String?

  init(_ status: ExitStatus, _ message: String, code: String? = nil, at place: String? = nil) {
    self.status = status
    self.message = message
    self.code = code
    self.place = place
  }

  /// An error in a document that the caller wrote.
  init(_ error: MalformedReceipt) {
    self.init(.usage, error.message, code: error.code.rawValue, at: error.place.description)
  }

  init(_ error: SigningError) {
    self.init(ExitStatus(of: error), error.message, code: error.code.rawValue, at: error.place)
  }

  init(_ error: CryptoError, at place: String) {
    self.init(.unreadableInput, error.message, code: error.code.rawValue, at: place)
  }

  /// A value of a document that is well formed and impossible.
  static func invalid(_ place: String, _ message: String) -> LibraryError {
    LibraryError(.usage, message, code: "invalid-value", at: place)
  }

  var json: [UInt8] {
    Output.Error(
      code: code.map(ExitStatus.errorCode) ?? ExitStatus.errorCode(of: status.rawValue), message: message,
      exitCode: Int64(status.rawValue), option: nil, source: nil, place: place
    ).object
  }
}
