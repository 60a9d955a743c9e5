// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCrypto

/// An offline proof that an entry is in a log (C2SP tlog-proof, `.tlog-proof`), which is not verified yet.
///
///     c2sp.org/tlog-proof@v1
///     extra YWdlLXYxLjIuMS1kYXJ3aW4tYXJtNjQudGFyLmd6
///     index 73894
///     gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=
///     B95lDa8R83lS8n0eG+o0buTxRKQTYFi//1U8anccXmA=
///
///     example.com/fancylog
///     109482
///     sFodV/vSp5O8n9a8QpW6PRY97tfOSW5bsc2Xl/EQi08=
///
///     — example.com/fancylog hI2DJw…1roloI=
///
/// The entry itself is not included. The `verify` functions, such as ``verify(entry:by:origin:)``, return a
/// ``VerifiedProof``.
public struct LogProof: Sendable, Hashable {
  /// Bytes for the application, which are not authenticated; `nil` without any.
  package let extra: [UInt8]?
  /// The index of the entry.
  public let index: UInt64
  /// The hashes on the path from the entry to the root.
  package let inclusionProof: [TreeHash]
  /// The head of the log, which is not verified yet.
  public let checkpoint: SignedCheckpoint

  private static let header = "c2sp.org/tlog-proof@v1"
  /// Tree sizes have 64 bits, so no tree is higher.
  private static let maximumHashCount = 64

  /// Creates a proof without checking it; ``verify(entry:by:origin:)`` checks it.
  ///
  /// - Throws: ``LogFormatError/Code/tooMany`` if there are more than 64 hashes.
  public init(
    extra: [UInt8]? = nil, index: UInt64, inclusionProof: [TreeHash], checkpoint: SignedCheckpoint
  ) throws(LogFormatError) {
    guard inclusionProof.count <= Self.maximumHashCount else {
      throw LogFormatError(.tooMany, .none, "more than \(Self.maximumHashCount) hashes")
    }
    self.extra = extra?.isEmpty == true ? nil : extra
    self.index = index
    self.inclusionProof = inclusionProof
    self.checkpoint = checkpoint
  }

  /// Parses a proof.
  ///
  /// - Throws: ``LogFormatError``, with the line number.
  public init(parsing bytes: [UInt8]) throws(LogFormatError) {
    guard bytes.count <= 2 * SignedNote.maximumByteCount else {
      throw LogFormatError(.tooLarge, .none, "more than \(2 * SignedNote.maximumByteCount) bytes")
    }
    var reader = LineReader(bytes[...])
    guard try reader.line("\"\(Self.header)\"").elementsEqual(Self.header.utf8) else {
      throw LogFormatError(.unexpectedLine, reader.place, "expected \"\(Self.header)\"")
    }
    var line = try reader.line("\"extra BASE64\" or \"index NUMBER\"")
    if let text = ASCII.rest(of: line, after: "extra ") {
      guard !text.isEmpty, let extra = try? Base64.decode(text) else {
        throw LogFormatError(.malformedBase64, reader.place, "expected the extra data in base64")
      }
      self.extra = extra
      line = try reader.line("\"index NUMBER\"")
    } else {
      extra = nil
    }
    index = try reader.number(in: line, after: ("index", "NUMBER"), "the index")
    inclusionProof = try reader.hashes(atMost: Self.maximumHashCount)
    checkpoint = try reader.checkpoint()
  }

  /// The proof as bytes. Encoding a parsed proof returns the same bytes.
  public var encoded: [UInt8] {
    var lines = [Self.header]
    if let extra { lines.append("extra \(Base64.encodeToString(extra))") }
    lines.append("index \(index)")
    return (lines + inclusionProof.map(\.base64) + [""]).encodedLines + checkpoint.encoded
  }
}

/// A verified statement that an entry is in a log. Only verification creates one.
public struct VerifiedProof: Sendable, Hashable {
  /// The head of the log.
  public let checkpoint: VerifiedCheckpoint
  /// The index of the entry.
  public let index: UInt64
}

/// An error that indicates that a proof does not verify, because of its signatures or its hashes.
public enum LogProofError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The checkpoint cannot be trusted.
  case checkpoint(NoteError)
  /// The hashes do not lead from the entry to the root.
  case inclusion(ProofError)

  /// The part that failed, with the reason.
  public var description: String {
    switch self {
    case .checkpoint(let error): "checkpoint: \(error)"
    case .inclusion(let error): "inclusion: \(error)"
    }
  }
}

extension LogProof {
  /// Verifies that the entry is in the log with this key.
  ///
  /// - Parameters:
  ///   - entry: The entry, as the log holds it.
  ///   - key: The log's key.
  ///   - origin: The log's origin, if it differs from the name of the key.
  /// - Returns: The verified proof.
  /// - Throws: ``LogProofError``.
  public func verify(
    entry: [UInt8], by key: NoteVerifierKey, origin: String? = nil
  ) throws(LogProofError) -> VerifiedProof {
    try verify(entry) { () throws(NoteError) in try checkpoint.verified(by: key, origin: origin) }
  }

  /// Verifies that the entry is in a log of the policy, and that the policy's witnesses have cosigned the checkpoint.
  ///
  /// - Throws: ``LogProofError``.
  public func verify(entry: [UInt8], policy: WitnessPolicy) throws(LogProofError) -> VerifiedProof {
    try verify(entry) { () throws(NoteError) in try policy.verify(checkpoint) }
  }

  private func verify(
    _ entry: [UInt8], _ verifyCheckpoint: () throws(NoteError) -> VerifiedCheckpoint
  ) throws(LogProofError) -> VerifiedProof {
    let verified: VerifiedCheckpoint
    do throws(NoteError) { verified = try verifyCheckpoint() } catch { throw .checkpoint(error) }
    do throws(ProofError) {
      try MerkleTree.verifyInclusion(
        leafHash: .leaf(entry), index: index, size: verified.checkpoint.size, root: verified.checkpoint.root,
        proof: inclusionProof)
    } catch { throw .inclusion(error) }
    return VerifiedProof(checkpoint: verified, index: index)
  }
}
