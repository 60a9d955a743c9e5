// SPDX-License-Identifier: Apache-2.0

extension WitnessConversation {
  /// The maximum number of requests, in case the witness reports a different last size each time.
  static let maximumRequests = 4

  /// The longest response to read, in bytes: enough for a hundred signature lines.
  package static let maximumResponseByteCount = 1 << 16

  /// The result of the requests: the witness's line, and the size of the last checkpoint that it cosigned; 0 if
  /// unknown.
  typealias Outcome = (line: Result<NoteSignature, WitnessRefusal>, latestSize: UInt64)

  private var size: UInt64 { checkpoint.unverifiedCheckpoint.size }

  /// Sends the requests.
  ///
  /// - Parameter latestSize: The size that the witness last cosigned, if known; otherwise 0.
  /// - Returns: The witness's verified signature line, or the reason why it gave none.
  func ask(latestSize: UInt64) async -> Outcome {
    var oldSize = latestSize <= size ? latestSize : 0
    do throws(WitnessRefusal) {
      guard let url = witness.submissionURL else {
        throw refusal(.noURL, "the policy does not say where it is")
      }
      for _ in 0..<Self.maximumRequests {
        switch try await request(oldSize, url) {
        case .cosigned(let lines): return (.success(try cosignature(lines)), size)
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
      // The witness's answers may have been false, so the next conversation starts from size 0.
      return (.failure(error), 0)
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

  /// Returns `true` if a content type, without its parameters, is that of a tree size.
  private static func isSize(_ contentType: String?) -> Bool {
    let type = contentType?.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    return type.map { String(decoding: Array($0), as: UTF8.self).lowercased() }
      == AddCheckpointResponse.sizeContentType
  }

  /// The witness's cosignature among the lines. Lines of unknown keys are ignored.
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

/// The HTTP client interface through which a log sends requests to its witnesses.
///
/// A witness may be slow, down or hostile. A transport must return within `timeout`, read no more than
/// `maximumByteCount`, follow no redirects and stop when its task is cancelled. Callers do not rely on that: they
/// abandon a call that does not return, and send nothing to that witness until it does.
public protocol WitnessTransport: Sendable {
  /// Sends a request once and reads the whole response. It must not block its thread.
  ///
  /// - Parameters:
  ///   - body: The body of the `POST` request.
  ///   - url: The URL to send it to.
  ///   - timeout: The time from the start until the last byte of the response.
  ///   - maximumByteCount: The longest body to read; a longer one is an error.
  /// - Returns: The response, with any status.
  /// - Throws: ``WitnessTransportError`` if there is no response.
  func post(
    _ body: [UInt8], to url: String, timeout: Duration, maximumByteCount: Int
  ) async throws(WitnessTransportError) -> WitnessResponse
}

extension WitnessRefusal: Error, CustomStringConvertible {
  init(_ witness: String, _ error: WitnessTransportError) {
    // The codes have the same names, but a transport that cannot be used reaches nobody.
    self.init(witness, Code(rawValue: error.code.rawValue) ?? .unreachable, error.message)
  }

  /// The witness, the code and the message, on one line.
  public var description: String { "\(witness) (\(code.rawValue): \(message))" }
}
