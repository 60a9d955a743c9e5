// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptVerification
public import TransparencyLog

/// A witness for the logs of others (C2SP tlog-witness).
///
/// It cosigns a checkpoint only if it continues the one that it cosigned last.
///
/// It needs an HTTP server in front that passes it the body of each `POST <prefix>/add-checkpoint`, and sends the
/// response that ``respond(to:)`` returns. Any number of threads and processes may answer for one witness at the same
/// time, as long as they share the checkpoint stores.
public struct CheckpointWitness: Sendable {
  package static let maximumRequestByteCount = SignedNote.maximumByteCount + 4096

  /// The witness's key, which signs nothing else.
  package let key: NoteSignerKey
  package let logs: [KnownLog]

  private let clock: @Sendable () -> Timestamp

  /// Creates a witness.
  ///
  /// - Parameters:
  ///   - key: The witness's key, which must not be the key of a log.
  ///   - logs: The logs that the witness knows.
  ///   - clock: The clock that gives the times of cosignatures.
  public init(
    key: NoteSignerKey, logs: [KnownLog], clock: @escaping @Sendable () -> Timestamp = SystemClock.now
  ) {
    self.key = key
    self.logs = logs
    self.clock = clock
  }

  /// Answers the body of a request.
  ///
  /// It blocks until the checkpoint is stored.
  ///
  /// The new checkpoint replaces exactly the one that it was compared with, by compare-and-swap, before the cosignature
  /// is returned.
  public func respond(to body: [UInt8]) -> Answer {
    guard body.count <= Self.maximumRequestByteCount else {
      return Self.answer(.badRequest, "the request has more than \(Self.maximumRequestByteCount) bytes")
    }
    let request: AddCheckpointRequest
    do throws(LogFormatError) { request = try AddCheckpointRequest(parsing: body) } catch {
      return Self.answer(AddCheckpointResponse(refusing: error), error.description)
    }
    let origin = request.checkpoint.unverifiedCheckpoint.origin
    let log = logs.first { $0.keys.contains { UTF8Text.isIdentical($0.name, origin) } }
    do {
      // Each lost race means that another request succeeded, and usually leads to another old size.
      for _ in 0..<64 {
        let stored = try log?.checkpoints.load()
        let decision = try WitnessRules(key: key, logs: log?.keys ?? []).decide(
          request, latest: try stored.map { try trusted($0, log?.keys ?? [], origin) },
          // A clock before 1970 is passed as the time 0, which is refused.
          at: clock().wholeSeconds)
        switch decision {
        case .refuse(let response, let reason): return Self.answer(response, reason)
        case .cosign(let verified, let line):
          guard let log else { return Self.answer(.unknownLog, "the log is not known") }
          let kept = try record(verified, line)
          guard try log.checkpoints.replace(stored, with: kept) else { continue }
          return Self.answer(.cosigned([line]), nil)
        }
      }
      return Self.answer(.other(status: 503), "others were faster again and again")
    } catch {
      return Self.answer(.other(status: 500), "\(error)")
    }
  }

  /// Returns the checkpoint with the log's signature and the witness's own, without the others of the request.
  private func record(_ verified: VerifiedCheckpoint, _ line: NoteSignature) throws -> [UInt8] {
    let own = CosignatureLines(keys: [verified.logKey])
    let lines = verified.signed.note.signatures.filter { own.key(namedBy: $0) != nil }.prefix(1)
    return try CosignatureLines.checkpoint(verified.checkpoint, lines + [line]).encoded
  }

  /// Returns the stored checkpoint if the witness cosigned it or the log signed it.
  private func trusted(_ bytes: [UInt8], _ keys: [NoteVerifierKey], _ origin: String) throws -> Checkpoint {
    let signed = try SignedCheckpoint(parsing: bytes)
    let checkpoint = signed.unverifiedCheckpoint
    let own = CosignatureLines(keys: [key.cosignatureVerifierKey])
    if try own.cosigners(of: signed).isEmpty { _ = try signed.note.verified(by: keys) }
    guard UTF8Text.isIdentical(checkpoint.origin, origin) else {
      throw AuditError(
        .tampered, at: "checkpoint", "The stored checkpoint is of the log \(checkpoint.origin).")
    }
    return checkpoint
  }

  private static func answer(_ response: AddCheckpointResponse, _ reason: String?) -> Answer {
    let type: String? =
      switch response {
      case .conflict: AddCheckpointResponse.sizeContentType
      case .cosigned: "text/plain; charset=utf-8"
      default: nil
      }
    return Answer(
      response: WitnessResponse(status: response.status, contentType: type, body: response.body),
      reason: reason)
  }
}
