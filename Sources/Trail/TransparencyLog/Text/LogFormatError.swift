// SPDX-License-Identifier: Apache-2.0

/// Bytes that are not the note, checkpoint, proof, policy, request or bundle that they should be.
public struct LogFormatError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault, as a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Longer than is read.
    case tooLarge = "too-large"
    /// Not UTF-8.
    case notUTF8 = "not-utf8"
    /// A control character that the format does not allow.
    case controlCharacter = "control-character"
    /// The text ends before a line that must be there, or within a line.
    case truncated
    /// A line that is not what must stand there.
    case unexpectedLine = "unexpected-line"
    /// No empty line stands between the text of a note and its signatures.
    case noSignatures = "no-signatures"
    /// Not a signature line: em dash, space, name, space, base64 of more than four bytes.
    case malformedSignatureLine = "malformed-signature-line"
    /// More lines of a kind than are read.
    case tooMany = "too-many"
    /// A name that is empty or has white space, a plus or a control character; or an origin or another line with
    /// a character that it cannot have.
    case malformedName = "malformed-name"
    /// Not a verifier key: name, plus, eight hexadecimal digits, plus, base64 of the type and the key.
    case malformedKey = "malformed-key"
    /// A key of a type that is not supported here.
    case unsupportedKeyType = "unsupported-key-type"
    /// The hash in a verifier key is not that of its name, type and key.
    case keyIDMismatch = "key-id-mismatch"
    /// Not a decimal number in its one spelling, or one beyond what can be.
    case malformedNumber = "malformed-number"
    /// Not 32 bytes in the one spelling of base64.
    case malformedHash = "malformed-hash"
    /// Not bytes in the one spelling of base64.
    case malformedBase64 = "malformed-base64"
    /// The checkpoint of an empty tree with another root than the hash of nothing.
    case wrongEmptyRoot = "wrong-empty-root"
    /// A name that is taken, or a key that is listed twice.
    case duplicate
    /// A name that no line before defines.
    case undefinedName = "undefined-name"
    /// Not as many entries as there should be.
    case wrongCount = "wrong-count"
    /// An entry of more than 65,535 bytes.
    case entryTooLong = "entry-too-long"
  }

  /// The place of the fault.
  public enum Place: Sendable, Hashable {
    /// A line, counted from 1.
    case line(Int)
    /// An offset in bytes, counted from 0.
    case byte(Int)
    /// Input that is given in pieces has no lines yet.
    case none
  }

  /// The kind of fault.
  public let code: Code
  /// The place of the fault.
  public let place: Place
  /// The expected form.
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

  /// The same fault of a part, in the text that the part begins at `line`.
  func offset(byLines lines: Int) -> LogFormatError {
    guard case .line(let line) = place else { return self }
    return LogFormatError(code, .line(line + lines), message)
  }
}
