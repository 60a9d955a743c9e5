// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptCrypto

extension SigningError {
  package init(_ error: CryptoError, at place: String = "") {
    let code: Code =
      switch error.code {
      case .malformedCertificate: .malformedCertificate
      case .malformedKey, .malformedPEM: .malformedKey
      case .keyMismatch: .keyMismatch
      case .wrongPassphrase: .wrongPassphrase
      case .passphraseRequired: .passphraseRequired
      case .unsupportedKey, .unsupportedAlgorithm: .unsuitableKey
      default: .cryptoFailure
      }
    self.init(code, at: place, error.description)
  }

  package init(_ error: MalformedReceipt) {
    let code: Code = error.code == .missing ? .missingField : .malformedInput
    self.init(code, at: error.place == .whole ? "" : error.place.description, error.message)
  }
}

extension PrivateKey {
  func sign(_ message: [UInt8], using algorithm: SignatureAlgorithm) throws(SigningError) -> [UInt8] {
    do throws(CryptoError) {
      return try signature(for: message, using: algorithm)
    } catch {
      throw SigningError(error)
    }
  }
}
