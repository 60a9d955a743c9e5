// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The logs that are trusted, and the witnesses that must have cosigned their checkpoints (C2SP tlog-policy).
///
///     log example.com/log+530b169c+AekUoF6XhkM/ttOS2QVaMFGyvGjmlLwHnKyUVKD2iHFz
///     witness X1 witness.example/x1+…
///     witness X2 witness.example/x2+…
///     witness Y1 witness.example/y1+…
///     group X any X1 X2
///     group X-and-Y all X Y1
///     quorum X-and-Y
///
/// Names have a meaning only within the policy. They are bytes and need not be UTF-8.
public struct WitnessPolicy: Sendable, Hashable {
  /// The longest policy that can be read, in bytes.
  package static let maximumByteCount = 1_000_000

  /// The logs; may be empty if the log is known from elsewhere.
  package let logs: [Log]
  package let witnesses: [Witness]
  /// The groups. Each follows its members.
  package let groups: [Group]
  /// The witness or group that must have cosigned; `nil` if no cosignature is needed (`quorum none`).
  package let quorum: [UInt8]?
}

extension WitnessPolicy {
  /// Creates a policy that accepts checkpoints of any of the logs, with cosignatures of at least `threshold`
  /// witnesses.
  ///
  /// - Throws: ``LogFormatError``: `unsupportedKeyType` if a key has the wrong kind, `duplicate` if a key is listed
  ///   twice, `malformedNumber` if `threshold` is outside 0...witnesses.count.
  public init(
    logs: [NoteVerifierKey], witnesses: [NoteVerifierKey] = [], threshold: Int = 0
  ) throws(LogFormatError) {
    guard (0...witnesses.count).contains(threshold) else {
      throw LogFormatError(
        .malformedNumber, .none, "there are no \(threshold) of \(witnesses.count) witnesses")
    }
    var lines = logs.map { "log \($0)" }
    lines += witnesses.enumerated().map { "witness w\($0 + 1) \($1)" }
    if threshold > 0 {
      let names = witnesses.indices.map { "w\($0 + 1)" }.joined(separator: " ")
      lines.append("group witnesses \(threshold) \(names)")
    }
    lines.append(threshold > 0 ? "quorum witnesses" : "quorum none")
    try self.init(parsing: lines.flatMap { Array("\($0)\n".utf8) })
  }

  /// Returns `true` if cosignatures by these keys make up the quorum.
  package func isSatisfied(by keys: some Collection<NoteVerifierKey>) -> Bool {
    guard let quorum else { return true }
    let keys = Set(keys)
    var satisfied = Set(witnesses.filter { keys.contains($0.key) }.map(\.name))
    // Each group follows its members, so one pass suffices.
    for group in groups where group.members.count(where: satisfied.contains) >= group.threshold {
      satisfied.insert(group.name)
    }
    return satisfied.contains(quorum)
  }

  /// Verifies that a log of the policy signed a checkpoint, and that the cosignatures make up the quorum.
  ///
  /// - Parameters:
  ///   - checkpoint: The checkpoint.
  ///   - logKey: The key of a log that is trusted in addition to those of the policy.
  /// - Returns: The verified checkpoint with the cosignatures.
  /// - Throws: ``NoteError``: `wrongOrigin` if no trusted log has this origin, `notSigned`, `invalidSignature`,
  ///   `quorumNotMet`, `internalFailure`.
  public func verify(
    _ checkpoint: SignedCheckpoint, logKey: NoteVerifierKey? = nil
  ) throws(NoteError) -> VerifiedCheckpoint {
    let origin = checkpoint.unverifiedCheckpoint.origin
    let keys = (logs.map(\.key) + [logKey].compactMap { $0 }).filter { UTF8Text.isIdentical($0.name, origin) }
    guard !keys.isEmpty else { throw NoteError(.wrongOrigin, "the policy has no log \(origin)") }
    let signers = try checkpoint.note.verified(by: keys).signers
    let cosignatures = try checkpoint.cosignatures(by: witnesses.map(\.key))
    guard isSatisfied(by: cosignatures.map(\.key)) else {
      throw NoteError(
        .quorumNotMet,
        "cosigned by \(cosignatures.count) of \(witnesses.count) witnesses, which is not the quorum")
    }
    guard let signer = signers.first else { throw NoteError(.notSigned, "no log of the policy signed") }
    return VerifiedCheckpoint(signed: checkpoint, logKey: signer, cosignatures: cosignatures)
  }
}

extension WitnessPolicy.Witness {
  /// The URL for requests: the submission prefix and `/add-checkpoint`; `nil` if the policy has no URL.
  package var submissionURL: String? {
    guard let url else { return nil }
    let end = url.lastIndex { $0 != UInt8(ascii: "/") }.map { $0 + 1 } ?? 0
    return String(decoding: url[..<end], as: UTF8.self) + "/add-checkpoint"
  }

  package var label: String { String(decoding: name, as: UTF8.self) }
}
