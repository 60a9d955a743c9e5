// SPDX-License-Identifier: Apache-2.0

/// An error that indicates a malformed note, checkpoint, proof, policy, request or bundle.
public struct LogFormatError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable identifier of the error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Input that exceeds the maximum length.
    case tooLarge = "too-large"
    /// Not UTF-8.
    case notUTF8 = "not-utf8"
    /// A control character that the format does not allow.
    case controlCharacter = "control-character"
    /// The text ends before a line that must be there, or within a line.
    case truncated
    /// A line that does not have the expected form.
    case unexpectedLine = "unexpected-line"
    /// A note without an empty line between its text and its signatures, or without a signature.
    case noSignatures = "no-signatures"
    /// Not a signature line: em dash, space, name, space, base64 of more than four bytes.
    case malformedSignatureLine = "malformed-signature-line"
    /// More lines of a kind than the maximum.
    case tooMany = "too-many"
    /// A name that is empty or has white space, a plus or a control character; or an origin or other line that is
    /// empty or has a control character.
    case malformedName = "malformed-name"
    /// Not a verifier key: name, plus, eight hexadecimal digits, plus, base64 of the type and the key.
    case malformedKey = "malformed-key"
    /// A key of an unsupported type.
    case unsupportedKeyType = "unsupported-key-type"
    /// A key ID that does not match the name, type and key.
    case keyIDMismatch = "key-id-mismatch"
    /// Not a decimal number in canonical form, or one that is out of range.
    case malformedNumber = "malformed-number"
    /// Not 32 bytes in canonical base64.
    case malformedHash = "malformed-hash"
    /// Not canonical base64.
    case malformedBase64 = "malformed-base64"
    /// A checkpoint of an empty tree whose root is not the hash of the empty tree.
    case wrongEmptyRoot = "wrong-empty-root"
    /// A name that is defined twice, or a key that is listed twice.
    case duplicate
    /// A name that no earlier line defines.
    case undefinedName = "undefined-name"
    /// The wrong number of entries.
    case wrongCount = "wrong-count"
    /// An entry longer than 65,535 bytes.
    case entryTooLong = "entry-too-long"
  }

  /// The position of the error.
  public enum Place: Sendable, Hashable {
    /// A line, counted from 1.
    case line(Int)
    /// An offset in bytes, counted from 0.
    case byte(Int)
    /// No position, because the input is not encoded text.
    case none
  }

  /// The kind of error.
  public let code: Code
  /// The position of the error.
  public let place: Place
  /// A description of the expectation that failed.
  public let message: String

  init(_ code: Code, _ place: Place, _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  public var description: String {
    switch place {
    case .line(let line): "\(code.rawValue) in line \(line): \(message)"
    case .byte(let offset): "\(code.rawValue) at byte \(offset): \(message)"
    case .none: "\(code.rawValue): \(message)"
    }
  }

  /// The same error with its line number increased by `lines`, for a part of a larger text.
  func offset(byLines lines: Int) -> LogFormatError {
    guard case .line(let line) = place else { return self }
    return LogFormatError(code, .line(line + lines), message)
  }
}
