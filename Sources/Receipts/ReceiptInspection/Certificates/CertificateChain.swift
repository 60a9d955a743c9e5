// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto
internal import ReceiptVerification

/// The issuers of a receipt's certificates, from the signer's certificate up. Certificate signatures are computed to
/// distinguish issuers of one name. That is no verification, which requires dates, purposes and trust.
package struct CertificateChain: Sendable {
  /// The maximum number of certificates that are searched for issuers, the same as in the verifier, and of signers that
  /// are shown. A genuine receipt has three certificates and one signer. Each further comparison may cost the
  /// computation of a signature.
  static let maximumCount = 16

  /// A certificate of the receipt, or the reason that it cannot be read.
  typealias Offered = Result<Certificate, CryptoError>

  /// Reads certificates in DER.
  static func offered(_ encoded: [[UInt8]]) -> [Offered] {
    encoded.map { der in Result { () throws(CryptoError) in try Certificate(der: der) } }
  }

  let signer: Certificate?
  /// The certificates in the order of a diagram: from the topmost issuer down to the signer's, then those not on the
  /// path.
  package let certificates: [ChainCertificate]
  /// The missing issuer of the topmost certificate, with the reason; `nil` if the path ends at a root.
  package let missingIssuer: (name: String, reason: String)?
  /// The end of the path from the signer.
  package let end: ChainEnd

  /// Builds the chain.
  init(_ offered: [Offered], signer: Int?) {
    let readable = offered.map { try? $0.get() }
    var path = signer.map { [$0] } ?? []
    // The topmost certificate of the path if a certificate has its issuer's name but did not sign it.
    var broken: Certificate?
    while let certificate = path.last.flatMap({ readable[$0] }), !certificate.isSelfIssued {
      let named = offered.indices.prefix(Self.maximumCount).filter { index in
        !path.contains(index) && readable[index]?.subjectDER == certificate.issuerDER
      }
      guard
        let next = named.first(where: { readable[$0].map { certificate.isSigned(by: $0) } ?? false })
      else {
        if !named.isEmpty { broken = certificate }
        break
      }
      path.append(next)
    }
    // The issuers above the path that are built in and not in the receipt.
    var builtIn: [Certificate] = []
    let known = TrustAnchors.apple.certificates + TrustAnchors.appleIntermediates
    var top = path.last.flatMap { readable[$0] }
    while let certificate = top, !certificate.isSelfIssued, builtIn.count < known.count,
      let issuer = known.first(where: {
        $0.subjectDER == certificate.issuerDER && certificate.isSigned(by: $0)
      })
    {
      builtIn.append(issuer)
      top = issuer
    }

    var onPath =
      path.map { ChainCertificate(offered[$0]) }
      + builtIn.map { ChainCertificate(.success($0), isBuiltIn: true) }
    if top?.isSelfIssued == true { onPath[onPath.count - 1].role = .root }
    if !onPath.isEmpty { onPath[0].role = .signer }
    certificates =
      onPath.reversed()
      + offered.indices.filter { !path.contains($0) }.map { ChainCertificate(offered[$0], .notOnPath) }
    self.signer = path.first.flatMap { readable[$0] }
    missingIssuer = top.flatMap { top in
      guard !top.isSelfIssued else { return nil }
      let reason =
        broken == nil
        ? "does not come along, and is not built in" : "the one of this name that comes along did not sign"
      return (ChainCertificate.name(top.issuerCommonName, top.issuer), reason)
    }
    end =
      if path.first.flatMap({ readable[$0] }) == nil {
        .noSigner
      } else if let broken {
        .broken(
          issuer: broken.issuer, subject: ChainCertificate.name(broken.subjectCommonName, broken.subject))
      } else if let top, top.isSelfIssued {
        TrustAnchors.apple.contains(top) ? .builtInRoot : .otherRoot
      } else {
        .missingIssuer
      }
  }

  /// One line for each certificate of the receipt, those on the path first: name, validity, fingerprint.
  var lines: [String] {
    let order = onPath.filter { !$0.isBuiltIn }.reversed() + notOnPath
    let width = order.map(\.name.count).max() ?? 0
    return order.map { entry in
      guard let details = entry.details else { return entry.name }
      let margin = String(repeating: " ", count: width - entry.name.count)
      return "\(entry.name)\(margin)  \(details)\(entry.role == .notOnPath ? "  not on the path" : "")"
    }
  }

  /// The chain as a diagram, with its root at the top.
  var picture: [String] {
    guard !certificates.isEmpty else { return ["There are no certificates."] }
    var lines = missingIssuer.map { ["? \($0.name)  (\($0.reason))"] } ?? []
    for (level, entry) in onPath.enumerated() {
      let depth = level + (missingIssuer == nil ? 0 : 1)
      let margin = depth == 0 ? "" : String(repeating: "   ", count: depth - 1) + "└─ "
      let below = String(repeating: "   ", count: depth) + (level == onPath.count - 1 ? "   " : "│  ")
      lines.append(margin + entry.name + (entry.isBuiltIn ? "  (built in, does not come along)" : ""))
      if let details = entry.details { lines.append(below + details) }
    }
    lines.append("")
    if !notOnPath.isEmpty {
      lines.append("Not on the path from the signer:")
      lines += notOnPath.map { entry in
        guard let certificate = entry.certificate, let details = entry.details else {
          return "  " + entry.name
        }
        let issuer = ChainCertificate.name(certificate.issuerCommonName, certificate.issuer)
        return "  \(entry.name), issued by \(issuer); \(details)"
      }
      lines.append("")
    }
    lines.append(end.description)
    return lines
  }

  private var onPath: [ChainCertificate] { certificates.filter { $0.role != .notOnPath } }
  private var notOnPath: [ChainCertificate] { certificates.filter { $0.role == .notOnPath } }
}

/// A certificate in the chain of a signer.
package struct ChainCertificate: Sendable {
  package fileprivate(set) var role: Role
  /// `true` if the certificate is built in and not part of the receipt.
  package let isBuiltIn: Bool
  /// The common name, or the whole name without one; for a malformed certificate, the error. Control characters are
  /// replaced.
  package let name: String
  /// The certificate; `nil` if it is malformed.
  package let certificate: Certificate?

  fileprivate init(
    _ offered: CertificateChain.Offered, _ role: Role = .intermediate, isBuiltIn: Bool = false
  ) {
    self.role = role
    self.isBuiltIn = isBuiltIn
    certificate = try? offered.get()
    name =
      switch offered {
      case .success(let certificate): Self.name(certificate.subjectCommonName, certificate.subject)
      case .failure(let error): "MALFORMED: \(error.message)"
      }
  }

  /// The validity and the beginning of the fingerprint.
  fileprivate var details: String? {
    guard let certificate else { return nil }
    let days = "\(TimeText.day(certificate.notBefore)) to \(TimeText.day(certificate.notAfter))"
    return "\(days)  sha256 \(certificate.sha256FingerprintHex.prefix(16))"
  }

  fileprivate static func name(_ commonName: String?, _ full: String) -> String {
    ShownText.plain(commonName ?? (full.isEmpty ? "(no name)" : full), limit: 64)
  }
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
