// SPDX-License-Identifier: Apache-2.0

/// The reason why a witness of the policy has not cosigned a checkpoint.
public struct WitnessRefusal: Error, Sendable, Hashable, CustomStringConvertible {
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
