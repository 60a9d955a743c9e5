// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// A log's request to a witness to cosign a checkpoint (C2SP tlog-witness).
///
/// It is the body of `POST <prefix>/add-checkpoint`. It proves that the checkpoint's tree extends the last one that
/// the witness cosigned.
///
///     old 20852014
///     PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
///     jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
///
///     example.com/behind-the-sofa
///     20852163
///     CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
///
///     — example.com/behind-the-sofa Az3grlgtzPICa5OS…
public struct AddCheckpointRequest: Sendable, Hashable {
  package static let maximumHashCount = 63

  /// The size of the last checkpoint that the witness cosigned; 0 if it has not cosigned any.
  package let oldSize: UInt64
  package let consistencyProof: [TreeHash]
  /// The checkpoint, which is not verified yet.
  package let checkpoint: SignedCheckpoint

  /// Creates a request.
  ///
  /// - Throws: ``LogFormatError/Code/tooMany`` if there are more than 63 hashes.
  public init(
    oldSize: UInt64, consistencyProof: [TreeHash], checkpoint: SignedCheckpoint
  ) throws(LogFormatError) {
    guard consistencyProof.count <= Self.maximumHashCount else {
      throw LogFormatError(.tooMany, .none, "more than \(Self.maximumHashCount) hashes")
    }
    self.oldSize = oldSize
    self.consistencyProof = consistencyProof
    self.checkpoint = checkpoint
  }

  /// Reads a request.
  ///
  /// - Throws: ``LogFormatError``, with the line number.
  public init(parsing bytes: [UInt8]) throws(LogFormatError) {
    var reader = LineReader(bytes[...])
    let line = try reader.line("\"old SIZE\"")
    oldSize = try reader.number(in: line, after: ("old", "SIZE"), "the old size")
    consistencyProof = try reader.hashes(atMost: Self.maximumHashCount)
    checkpoint = try reader.checkpoint()
  }

  /// The request as bytes. Encoding a parsed request returns the same bytes.
  public var encoded: [UInt8] {
    (["old \(oldSize)"] + consistencyProof.map(\.base64) + [""]).encodedLines + checkpoint.encoded
  }
}

/// A witness's response to an ``AddCheckpointRequest``.
public enum AddCheckpointResponse: Sendable, Hashable {
  /// 200: the witness cosigned. The lines are not verified; add them to the checkpoint and verify it.
  case cosigned([NoteSignature])
  /// 400: the request is malformed, or its old size is greater than the checkpoint's.
  case badRequest
  /// 403: no key that the witness trusts for this log has signed the checkpoint.
  case notSigned
  /// 404: the witness does not know the log.
  case unknownLog
  /// 409: the last checkpoint that the witness cosigned has a different size.
  case conflict(size: UInt64)
  /// 422: the checkpoint is inconsistent with the last one. Either the consistency proof does not verify, or the last
  /// checkpoint has the same size and a different root, or the checkpoint has no entries and its root is not that of
  /// the empty tree.
  case inconsistent
  /// Any other HTTP status, which the protocol does not define.
  case other(status: Int)

  package static let sizeContentType = "text/x.tlog.size"

  /// The response to a request that cannot be parsed.
  package init(refusing error: LogFormatError) {
    self = error.code == .wrongEmptyRoot ? .inconsistent : .badRequest
  }

  /// Parses a response, whose body is used only for 200 and 409. Throws ``LogFormatError`` if the body is not valid for
  /// the status.
  package init(status: Int, body: [UInt8]) throws(LogFormatError) {
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
    case .cosigned(let signatures): signatures.map(\.line).encodedLines
    case .conflict(let size): Array("\(size)\n".utf8)
    default: []
    }
  }
}
