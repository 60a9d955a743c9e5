// SPDX-License-Identifier: Apache-2.0

/// Why a witness of the policy has not cosigned a checkpoint.
public struct WitnessRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// Why, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The policy does not say where it is.
    case noURL = "no-url"
    /// It could not be reached.
    case unreachable
    /// It did not answer in time.
    case timedOut = "timed-out"
    /// It has not yet answered what it was asked before.
    case busy
    /// Its answer is longer than is read.
    case tooLarge = "too-large"
    /// Its answer is not one of the protocol.
    case malformedAnswer = "malformed-answer"
    /// Its answer is not its key's cosignature of this checkpoint.
    case wrongSignature = "wrong-signature"
    /// OpenSSL could not check what it sent, for instance for want of memory: nothing follows for the witness.
    case notChecked = "not-checked"
    /// 400: the request is malformed, in its view.
    case badRequest = "bad-request"
    /// 403: it does not trust the log's key.
    case notTrusted = "not-trusted"
    /// 404: it does not know the log.
    case unknownLog = "unknown-log"
    /// 422, or 409 from witnesses of before July 2026: it cosigned another tree of the same size. One of the two was
    /// forged.
    case forked
    /// 409: it cosigned a checkpoint with more entries than this one has.
    case ahead
    /// 409 again and again, with another size each time.
    case unsettled
    /// 422: the checkpoint does not continue the one that it cosigned last. One of the two was forged.
    case inconsistent
    /// A status that the protocol does not foresee.
    case unexpectedStatus = "unexpected-status"
  }

  /// The name of the witness in the policy.
  public let witness: String
  /// Why, in a word.
  public let code: Code
  /// Why, on one line. It quotes nothing that the witness sent but numbers.
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
