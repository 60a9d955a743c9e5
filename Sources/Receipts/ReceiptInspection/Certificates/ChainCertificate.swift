// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// A certificate in the chain of a signer.
package struct ChainCertificate: Sendable {
  /// Its place in the chain.
  package enum Role: String, Sendable, Hashable {
    /// The signer's.
    case signer
    /// An issuer that another issued.
    case intermediate
    /// The issuer at the top, which issued itself.
    case root
    /// It comes along, but does not lead from the signer to a root.
    case notOnPath
  }

  /// Its place in the chain.
  package let role: Role
  /// Whether it does not come along, but is built in.
  package let isBuiltIn: Bool
  /// The common name, otherwise the whole name, without control characters; of one that is malformed, why it is.
  package let name: String
  let certificate: Certificate?

  init(role: Role, isBuiltIn: Bool = false, name: String, certificate: Certificate?) {
    self.role = role
    self.isBuiltIn = isBuiltIn
    self.name = name
    self.certificate = certificate
  }

  /// What it states; `nil` if it is malformed.
  package var details: CertificateDetails? { certificate.map { CertificateDetails($0) } }
}

/// Where the path from a signer's certificate ends.
package enum ChainEnd: Sendable, Hashable, CustomStringConvertible {
  /// There is no readable certificate of a signer.
  case noSigner
  /// A certificate has the name of the issuer, but its key did not sign.
  case broken(issuer: String, subject: String)
  /// The topmost issuer does not come along, and is not built in.
  case missingIssuer
  /// A root that is not built in.
  case otherRoot
  /// A root that is built in.
  case builtInRoot

  /// A sentence, as `receipt-tool inspect --certificates` ends with.
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
