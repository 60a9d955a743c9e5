// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// A certificate in the chain of a signer.
package struct ChainCertificate: Sendable {
  package enum Role: String, Sendable, Hashable {
    case signer
    /// An issuer that another certificate issued.
    case intermediate
    /// The topmost issuer, which is self-issued.
    case root
    /// A certificate of the receipt that is not on the path from the signer to a root.
    case notOnPath
  }

  package let role: Role
  /// `true` if the certificate is built in and not part of the receipt.
  package let isBuiltIn: Bool
  /// The common name, or the whole name without one; for a malformed certificate, the error. Control characters are
  /// replaced.
  package let name: String
  let certificate: Certificate?

  init(role: Role, isBuiltIn: Bool = false, name: String, certificate: Certificate?) {
    self.role = role
    self.isBuiltIn = isBuiltIn
    self.name = name
    self.certificate = certificate
  }

  /// The certificate's contents; `nil` if it is malformed.
  package var details: CertificateDetails? { certificate.map { CertificateDetails($0) } }
}

/// The end of the path from a signer's certificate.
package enum ChainEnd: Sendable, Hashable, CustomStringConvertible {
  /// The signer has no readable certificate.
  case noSigner
  /// A certificate has the issuer's name, but its key did not sign the subject.
  case broken(issuer: String, subject: String)
  /// The topmost issuer is neither in the receipt nor built in.
  case missingIssuer
  /// A root that is not built in.
  case otherRoot
  /// A root that is built in.
  case builtInRoot

  /// The sentence with which `receipt-tool inspect --certificates` ends.
  package var description: String {
    switch self {
    case .noSigner: "The certificate of the signer does not come along, or cannot be read."
    case .broken(let issuer, let subject):
      "The path breaks: a certificate has the name \(issuer), but its key did not sign \(subject)."
    case .missingIssuer: "The path ends at an issuer that does not come along and is not built in."
    case .otherRoot:
      "The path ends in a root that is not built in; --trust of 'receipt-tool verify' takes it from a file."
    case .builtInRoot: "The path ends in a root that is built in, by its SHA-256."
    }
  }
}
