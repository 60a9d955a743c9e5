// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension WitnessRules {
  /// The action that the witness must take.
  public enum Decision: Sendable, Hashable {
    /// Store the checkpoint as the last one, then answer with the signature line.
    case cosign(VerifiedCheckpoint, NoteSignature)
    /// Answer with this response, and store nothing.
    case refuse(AddCheckpointResponse, reason: String)
  }

  /// Decides on the body of a request, as ``decide(_:latest:at:)``.
  package func decide(
    body: [UInt8], latest: (_ origin: String) throws -> Checkpoint?, at timestamp: UInt64
  ) throws -> Decision {
    let request: AddCheckpointRequest
    do throws(LogFormatError) {
      request = try AddCheckpointRequest(parsing: body)
    } catch { return .refuse(AddCheckpointResponse(refusing: error), reason: error.description) }
    return try decide(
      request, latest: try latest(request.checkpoint.unverifiedCheckpoint.origin), at: timestamp)
  }

  /// Decides on a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - latest: The last checkpoint that was cosigned for the log with this origin; `nil` without one.
  ///   - timestamp: The time, in seconds since 1970.
  /// - Returns: The action to take.
  /// - Throws: `CryptoError` if OpenSSL cannot sign; ``NoteError/Code/internalFailure`` if it cannot check the log's
  ///   signature; ``LogFormatError`` if `timestamp` is 0 or beyond 2^63 - 1.
  public func decide(
    _ request: AddCheckpointRequest, latest: Checkpoint?, at timestamp: UInt64
  ) throws -> Decision {
    let claimed = request.checkpoint.unverifiedCheckpoint
    let keys = logs.filter { UTF8Text.isIdentical($0.name, claimed.origin) }
    guard !keys.isEmpty else { return .refuse(.unknownLog, reason: "the log \(claimed.origin) is not known") }
    let verified: VerifiedCheckpoint
    do throws(NoteError) {
      verified = try WitnessPolicy(
        logs: keys.map { WitnessPolicy.Log(key: $0, url: nil) }, witnesses: [], groups: [], quorum: nil
      )
      .verify(request.checkpoint)
    } catch {
      guard error.code != .internalFailure else { throw error }
      return .refuse(.notSigned, reason: error.description)
    }
    let checkpoint = verified.checkpoint
    guard request.oldSize <= checkpoint.size else {
      return .refuse(
        .badRequest, reason: "the old size \(request.oldSize) is greater than the new one, \(checkpoint.size)"
      )
    }
    let latestSize = latest?.size ?? 0
    guard request.oldSize == latestSize else {
      return .refuse(.conflict(size: latestSize), reason: "the last checkpoint has \(latestSize) entries")
    }
    let latestRoot = latest?.root ?? .empty
    guard checkpoint.size != latestSize || checkpoint.root == latestRoot else {
      return .refuse(
        .inconsistent, reason: "the last checkpoint, of the same size, has the root \(latestRoot)")
    }
    do throws(ProofError) {
      try MerkleTree.verifyConsistency(
        from: latestSize, oldRoot: latestRoot, to: checkpoint.size, root: checkpoint.root,
        proof: request.consistencyProof)
    } catch { return .refuse(.inconsistent, reason: error.description) }
    return .cosign(verified, try checkpoint.cosigned(by: key, timestamp: timestamp))
  }
}
