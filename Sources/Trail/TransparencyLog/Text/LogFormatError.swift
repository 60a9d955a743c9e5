// SPDX-License-Identifier: Apache-2.0

/// An error that indicates a malformed note, checkpoint, proof, policy, request or bundle.
public struct LogFormatError: Error, Sendable, Hashable, CustomStringConvertible {
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
