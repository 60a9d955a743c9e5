// SPDX-License-Identifier: Apache-2.0

/// The reason why a witness of the policy has not cosigned a checkpoint.
public struct WitnessRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable identifier of the reason.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The policy has no URL for the witness.
    case noURL = "no-url"
    /// The witness could not be reached.
    case unreachable
    /// The witness did not answer in time.
    case timedOut = "timed-out"
    /// The witness has not answered an earlier request yet.
    case busy
    /// The response exceeds the maximum length.
    case tooLarge = "too-large"
    /// The response does not conform to the protocol.
    case malformedAnswer = "malformed-answer"
    /// The response is not the cosignature of this checkpoint by the witness's key.
    case wrongSignature = "wrong-signature"
    /// OpenSSL could not check the signature, for example because memory ran out. This says nothing about the
    /// witness.
    case notChecked = "not-checked"
    /// 400: the witness considers the request malformed.
    case badRequest = "bad-request"
    /// 403: the witness does not trust the log's key.
    case notTrusted = "not-trusted"
    /// 404: the witness does not know the log.
    case unknownLog = "unknown-log"
    /// 422 (409 from witnesses older than July 2026): the witness cosigned a different tree of the same size. One of
    /// the two was forged.
    case forked
    /// 409: the witness cosigned a checkpoint with more entries than this one.
    case ahead
    /// 409 repeatedly, with a different size each time.
    case unsettled
    /// 422: the checkpoint is not consistent with the one that the witness cosigned last. One of the two was forged.
    case inconsistent
    /// A status that the protocol does not define.
    case unexpectedStatus = "unexpected-status"
  }

  /// The name of the witness in the policy.
  public let witness: String
  /// The kind of reason.
  public let code: Code
  /// A description on one line. It quotes only numbers from the witness's response.
  public let message: String

  package init(_ witness: String, _ code: Code, _ message: String) {
    self.witness = witness
    self.code = code
    self.message = message
  }

  init(_ witness: String, _ error: WitnessTransportError) {
    let code: Code =
      switch error.code {
      case .unreachable, .unusable: .unreachable
      case .timedOut: .timedOut
      case .tooLarge: .tooLarge
      }
    self.init(witness, code, error.message)
  }

  /// The witness, the code and the message, on one line.
  public var description: String { "\(witness) (\(code.rawValue): \(message))" }
}
