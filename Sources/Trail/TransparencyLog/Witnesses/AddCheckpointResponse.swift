// SPDX-License-Identifier: Apache-2.0

/// A witness's answer to an ``AddCheckpointRequest``.
public enum AddCheckpointResponse: Sendable, Hashable {
  /// 200: it cosigned. The lines are not verified; add them to the checkpoint and verify that.
  case cosigned([NoteSignature])
  /// 400: the request is malformed, or its old size is greater than that of the checkpoint.
  case badRequest
  /// 403: no key that it trusts for this log has signed the checkpoint.
  case notSigned
  /// 404: it does not know the log.
  case unknownLog
  /// 409: the last checkpoint that it cosigned has another size.
  case conflict(size: UInt64)
  /// 422: the consistency proof does not verify, the checkpoint has another root than the last one, of the same size, or it
  /// has no entries and another root than the empty tree.
  case inconsistent
  /// Another HTTP status, which the protocol does not foresee.
  case other(status: Int)

  /// The content type of a conflict's body.
  public static let sizeContentType = "text/x.tlog.size"

  /// The answer to a request that cannot be read.
  package init(refusing error: LogFormatError) {
    self = error.code == .wrongEmptyRoot ? .inconsistent : .badRequest
  }

  /// Reads an answer.
  ///
  /// - Parameters:
  ///   - status: The HTTP status.
  ///   - body: The body; looked at for 200 and 409 alone.
  /// - Throws: ``LogFormatError`` where the body is not what goes with the status.
  public init(status: Int, body: [UInt8]) throws(LogFormatError) {
    switch status {
    case 200:
      guard body.count <= SignedNote.maximumByteCount else {
        throw LogFormatError(.tooLarge, .none, "more than \(SignedNote.maximumByteCount) bytes")
      }
      var reader = LineReader(body[...])
      let signatures = try NoteSignature.lines(&reader)
      guard !signatures.isEmpty else {
        throw LogFormatError(.noSignatures, .line(1), "expected one signature line or more")
      }
      self = .cosigned(signatures)
    case 400: self = .badRequest
    case 403: self = .notSigned
    case 404: self = .unknownLog
    case 409:
      var reader = LineReader(body[...])
      guard let size = ASCII.decimal(try reader.line("a size")) else {
        throw LogFormatError(.malformedNumber, reader.place, "expected a size in decimal")
      }
      guard reader.remainder.isEmpty else {
        throw LogFormatError(.unexpectedLine, .line(2), "expected nothing after the size")
      }
      self = .conflict(size: size)
    case 422: self = .inconsistent
    default: self = .other(status: status)
    }
  }

  /// The HTTP status.
  public var status: Int {
    switch self {
    case .cosigned: 200
    case .badRequest: 400
    case .notSigned: 403
    case .unknownLog: 404
    case .conflict: 409
    case .inconsistent: 422
    case .other(let status): status
    }
  }

  /// The body: signature lines, a size, or nothing.
  public var body: [UInt8] {
    switch self {
    case .cosigned(let signatures): signatures.flatMap { Array($0.line.utf8) + [ASCII.newline] }
    case .conflict(let size): Array("\(size)\n".utf8)
    default: []
    }
  }
}
