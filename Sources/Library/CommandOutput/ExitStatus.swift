// SPDX-License-Identifier: Apache-2.0

package import ReceiptSigning

/// How a command ended: an exit code of the tool, which the functions of libreceiptkit return as well. Those of 64 and more
/// are those of `sysexits.h`.
package enum ExitStatus: Int32 {
  /// It was done; of a verification: the receipt is valid.
  case done = 0
  case invalid = 1
  case undetermined = 2
  case usage = 64
  case malformedInput = 65
  case unreadableInput = 66
  case internalFault = 70
  case cannotCreate = 73
  /// Output, a file or a storage could not be written.
  case inputOutput = 74

  package init(of error: SigningError) {
    switch error.code {
    case .fileExists, .unwritableFile: self = .cannotCreate
    case .cryptoFailure: self = .internalFault
    case .unreadableFile, .malformedKey, .malformedCertificate, .malformedInput, .missingField,
      .unknownField, .emptyChain, .brokenChain, .keyMismatch, .wrongPassphrase, .malformedAuthority,
      .tokenUnavailable:
      self = .unreadableInput
    case .chainLength, .unsuitableKey, .passphraseRequired, .invalidValue, .unusableIssuer: self = .usage
    case .unknownCertificate, .alreadyRevoked: self = .invalid
    case .authorityBusy: self = .inputOutput
    }
  }

  /// The code of an object `error` for an exit code, if the part that failed has none of its own.
  package static func errorCode(of exitCode: Int32) -> String {
    switch ExitStatus(rawValue: exitCode) {
    case .invalid: "refused"
    case .undetermined: "unavailable"
    case .usage: "usage"
    case .malformedInput: "malformed-input"
    case .unreadableInput: "unreadable-input"
    case .cannotCreate: "cannot-create"
    case .inputOutput: "input-output"
    default: "internal-fault"
    }
  }

  /// The code of an object `error` for the code of a part, which is in camel case, as its enumeration spells it: `not-found`
  /// for `notFound`.
  package static func errorCode(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
  }
}
