// SPDX-License-Identifier: Apache-2.0

/// Requests to one witness to cosign one checkpoint, until the size of the last checkpoint that it saw is known.
package struct WitnessConversation: Sendable {
  /// A witness that names another last size each time is not asked more often than this.
  static let maximumRequests = 4

  /// The longest answer that is read, in bytes: a hundred signature lines fit in.
  package static let maximumResponseByteCount = 1 << 16

  package let witness: WitnessPolicy.Witness
  private let transport: any WitnessTransport
  private let checkpoint: SignedCheckpoint
  package let deadline: ContinuousClock.Instant
  private let proof: @Sendable (UInt64) async throws -> [TreeHash]

  /// The result of the requests.
  package struct Outcome: Sendable {
    package let line: Result<NoteSignature, WitnessRefusal>
    /// The size of the last checkpoint that the witness cosigned, as far as it can be known.
    package let latestSize: UInt64
  }

  /// - Parameters:
  ///   - witness: Who is asked.
  ///   - transport: Sends the requests.
  ///   - checkpoint: The checkpoint as the log signed it.
  ///   - deadline: When the time is up.
  ///   - proof: The proof that the checkpoint continues the tree of so many entries.
  package init(
    witness: WitnessPolicy.Witness, transport: any WitnessTransport, checkpoint: SignedCheckpoint,
    deadline: ContinuousClock.Instant, proof: @escaping @Sendable (UInt64) async throws -> [TreeHash]
  ) {
    self.witness = witness
    self.transport = transport
    self.checkpoint = checkpoint
    self.deadline = deadline
    self.proof = proof
  }

  private var size: UInt64 { checkpoint.unverifiedCheckpoint.size }

  /// Sends the requests.
  ///
  /// - Parameter latestSize: The size that the witness saw last, as far as is known; otherwise 0.
  /// - Returns: The witness's line, verified, or the reason for its absence.
  package func ask(latestSize: UInt64) async -> Outcome {
    var oldSize = latestSize <= size ? latestSize : 0
    do throws(WitnessRefusal) {
      guard let url = witness.submissionURL else {
        throw refusal(.noURL, "the policy does not say where it is")
      }
      for _ in 0..<Self.maximumRequests {
        switch try await request(oldSize, url) {
        case .cosigned(let lines): return Outcome(line: .success(try cosignature(lines)), latestSize: size)
        case .conflict(let seen):
          guard seen != oldSize else {
            throw refusal(.forked, "it has cosigned another tree of \(seen) entries")
          }
          guard seen <= size else {
            throw refusal(.ahead, "it has cosigned a checkpoint of \(seen) entries, this one has \(size)")
          }
          oldSize = seen
        case .badRequest: throw refusal(.badRequest, "it answered 400 Bad Request")
        case .notSigned: throw refusal(.notTrusted, "it does not trust the trail's key (403)")
        case .unknownLog: throw refusal(.unknownLog, "it does not know the trail (404)")
        case .inconsistent where oldSize == size:
          throw refusal(.forked, "it has cosigned another tree of \(size) entries (422)")
        case .inconsistent:
          throw refusal(.inconsistent, "the trail does not continue the \(oldSize) entries it cosigned (422)")
        case .other(let status): throw refusal(.unexpectedStatus, "it answered with status \(status)")
        }
      }
      throw refusal(.unsettled, "it named another last size in each of \(Self.maximumRequests) answers")
    } catch {
      // Its answers may have been lies, so the next conversation starts from nothing.
      return Outcome(line: .failure(error), latestSize: 0)
    }
  }

  private func request(
    _ oldSize: UInt64, _ url: String
  ) async throws(WitnessRefusal) -> AddCheckpointResponse {
    let body: [UInt8]
    do {
      let hashes = try await proof(oldSize)
      body = try AddCheckpointRequest(oldSize: oldSize, consistencyProof: hashes, checkpoint: checkpoint)
        .encoded
    } catch {
      throw refusal(.unreachable, "the consistency proof for it could not be made: \(error)")
    }
    let left = deadline - .now
    guard left > .zero, !Task.isCancelled else { throw refusal(.timedOut, "it did not answer in time") }
    let response: WitnessResponse
    do throws(WitnessTransportError) {
      response = try await transport.post(
        body, to: url, timeout: left, maximumByteCount: Self.maximumResponseByteCount)
    } catch { throw WitnessRefusal(witness.label, error) }
    guard response.body.count <= Self.maximumResponseByteCount else {
      throw refusal(.tooLarge, "its answer has more than \(Self.maximumResponseByteCount) bytes")
    }
    guard response.status != 409 || Self.isSize(response.contentType) else {
      throw refusal(
        .malformedAnswer, "it answered 409 without the type \(AddCheckpointResponse.sizeContentType)")
    }
    do throws(LogFormatError) {
      return try AddCheckpointResponse(status: response.status, body: response.body)
    } catch {
      throw refusal(.malformedAnswer, "its answer with status \(response.status) cannot be read: \(error)")
    }
  }

  /// Indicates whether a content type, parameters aside, is that of a size.
  private static func isSize(_ contentType: String?) -> Bool {
    let type = contentType?.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    return type.map { String(decoding: Array($0), as: UTF8.self).lowercased() }
      == AddCheckpointResponse.sizeContentType
  }

  /// The line that is the witness's cosignature; lines of unknown keys are ignored.
  private func cosignature(_ lines: [NoteSignature]) throws(WitnessRefusal) -> NoteSignature {
    let own = CosignatureLines(keys: [witness.key])
    let named = lines.filter { own.key(namedBy: $0) != nil }
    guard let line = named.first else {
      throw refusal(.wrongSignature, "its answer has no signature by the key of the policy")
    }
    var areCosignatures = true
    do throws(NoteError) {
      for line in named
      where try !own.isCosignature(line, by: witness.key, of: checkpoint.unverifiedCheckpoint) {
        areCosignatures = false
      }
    } catch { throw refusal(.notChecked, error.message) }
    guard areCosignatures else {
      throw refusal(.wrongSignature, "what it sent is not its cosignature of this checkpoint")
    }
    return line
  }

  private func refusal(_ code: WitnessRefusal.Code, _ message: String) -> WitnessRefusal {
    WitnessRefusal(witness.label, code, message)
  }
}
