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
  /// The maximum number of hashes in a consistency proof.
  package static let maximumHashCount = 63

  /// The size of the last checkpoint that the witness cosigned; 0 if it has not cosigned any.
  package let oldSize: UInt64
  /// The consistency proof from `oldSize` to the checkpoint.
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
    guard let size = ASCII.rest(of: try reader.line("\"old SIZE\""), after: "old ") else {
      throw LogFormatError(.unexpectedLine, reader.place, "expected \"old SIZE\"")
    }
    guard let oldSize = ASCII.decimal(size) else {
      throw LogFormatError(.malformedNumber, reader.place, "expected the old size in decimal")
    }
    self.oldSize = oldSize
    consistencyProof = try reader.hashes(atMost: Self.maximumHashCount)
    do throws(LogFormatError) {
      checkpoint = try SignedCheckpoint(parsing: reader.remainder)
    } catch { throw error.offset(byLines: reader.lineNumber) }
  }

  /// The request as bytes. Encoding a parsed request returns the same bytes.
  public var encoded: [UInt8] {
    let lines = ["old \(oldSize)"] + consistencyProof.map(\.base64) + [""]
    return lines.reduce(into: []) { $0 += Array($1.utf8) + [ASCII.newline] } + checkpoint.encoded
  }
}
