// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
internal import ReceiptVerification

/// The issuers of a receipt's certificates, from the signer's certificate up. Certificate signatures are computed to
/// distinguish issuers of one name. That is no verification, which requires dates, purposes and trust.
package struct CertificateChain: Sendable {
  /// The maximum number of certificates that are searched for issuers, the same as in the verifier, and of signers that
  /// are shown. A genuine receipt has three certificates and one signer. Each further comparison may cost the
  /// computation of a signature.
  static let maximumCount = 16

  /// A certificate of the receipt.
  struct Offered: Sendable {
    let certificate: Certificate?
    let error: String?

    private init(certificate: Certificate?, error: String?) {
      self.certificate = certificate
      self.error = error
    }

    init(der: [UInt8]) {
      do throws(CryptoError) {
        self.init(certificate: try Certificate(der: der), error: nil)
      } catch {
        self.init(certificate: nil, error: error.message)
      }
    }
  }

  private let offered: [Offered]
  /// The indices of the certificates on the path, from the signer's up.
  private let path: [Int]
  /// The built-in issuers above the path that are not in the receipt.
  private let builtIn: [Certificate]
  /// The index of the path's topmost certificate if a certificate has its issuer's name but did not sign it; otherwise
  /// `nil`.
  private let brokenLink: Int?

  /// Builds the chain.
  init(_ offered: [Offered], signer: Int?) {
    var path = signer.map { [$0] } ?? []
    var brokenLink: Int?
    while let last = path.last, let certificate = offered[last].certificate, !certificate.isSelfIssued {
      let named = offered.indices.prefix(Self.maximumCount).filter { index in
        !path.contains(index) && offered[index].certificate?.subjectDER == certificate.issuerDER
      }
      guard
        let next = named.first(where: { index in
          offered[index].certificate.map { certificate.isSigned(by: $0) } ?? false
        })
      else {
        brokenLink = named.first.map { _ in last }
        break
      }
      path.append(next)
    }
    self.offered = offered
    self.path = path
    self.brokenLink = brokenLink
    var above: [Certificate] = []
    let known = TrustAnchors.apple.certificates + TrustAnchors.appleIntermediates
    var top = path.last.flatMap { offered[$0].certificate }
    while let certificate = top, !certificate.isSelfIssued, above.count < known.count {
      top = known.first { $0.subjectDER == certificate.issuerDER && certificate.isSigned(by: $0) }
      if let top { above.append(top) }
    }
    builtIn = above
  }

  var signer: Certificate? { path.first.flatMap { offered[$0].certificate } }

  /// One line for each certificate of the receipt, those on the path first: name, validity, fingerprint.
  var lines: [String] {
    let order = path + unused
    let names = order.map { Self.name(of: offered[$0]) }
    let width = names.map(\.count).max() ?? 0
    return zip(order, names).map { index, name in
      guard let certificate = offered[index].certificate else { return name }
      let note = path.contains(index) ? "" : "  not on the path"
      return name.padded(to: width) + "  \(Self.details(of: certificate))\(note)"
    }
  }

  /// The certificates in the order of a diagram: from the topmost issuer down to the signer's, then those not on the
  /// path.
  package var certificates: [ChainCertificate] {
    let topIsRoot = top?.isSelfIssued ?? false
    let onPath = path.enumerated().map { level, index in
      ChainCertificate(
        role: level == 0
          ? .signer : topIsRoot && level == path.count - 1 && builtIn.isEmpty ? .root : .intermediate,
        name: Self.name(of: offered[index]), certificate: offered[index].certificate)
    }
    let above = builtIn.enumerated().map { level, certificate in
      ChainCertificate(
        role: topIsRoot && level == builtIn.count - 1 ? .root : .intermediate, isBuiltIn: true,
        name: Self.name(certificate.subjectCommonName, certificate.subject), certificate: certificate)
    }
    let others = unused.map { index in
      ChainCertificate(
        role: .notOnPath, name: Self.name(of: offered[index]), certificate: offered[index].certificate)
    }
    return (onPath + above).reversed() + others
  }

  /// The missing issuer of the topmost certificate, with the reason; `nil` if the path ends at a root.
  package var missingIssuer: (name: String, reason: String)? {
    guard let top, !top.isSelfIssued else { return nil }
    let reason =
      brokenLink == nil
      ? "does not come along, and is not built in" : "the one of this name that comes along did not sign"
    return (Self.name(top.issuerCommonName, top.issuer), reason)
  }

  /// The end of the path from the signer.
  package var end: ChainEnd {
    guard signer != nil else { return .noSigner }
    if let brokenLink, let certificate = offered[brokenLink].certificate {
      return .broken(
        issuer: certificate.issuer, subject: Self.name(certificate.subjectCommonName, certificate.subject))
    }
    guard let top, top.isSelfIssued else { return .missingIssuer }
    return TrustAnchors.apple.contains(top) ? .builtInRoot : .otherRoot
  }

  /// The chain as a diagram, with its root at the top.
  var picture: [String] {
    guard !offered.isEmpty else { return ["There are no certificates."] }
    var lines: [String] = []
    let onPath = certificates.filter { $0.role != .notOnPath }
    let missing = missingIssuer
    if let missing { lines.append("? \(missing.name)  (\(missing.reason))") }
    for (level, certificate) in onPath.enumerated() {
      lines += Self.drawn(
        certificate, depth: level + (missing == nil ? 0 : 1), isLast: level == onPath.count - 1)
    }
    lines.append("")
    if !unused.isEmpty {
      lines.append("Not on the path from the signer:")
      lines += unused.map { index in
        guard let certificate = offered[index].certificate else {
          return "  " + Self.name(of: offered[index])
        }
        let issuer = Self.name(certificate.issuerCommonName, certificate.issuer)
        return "  \(Self.name(of: offered[index])), issued by \(issuer); \(Self.details(of: certificate))"
      }
      lines.append("")
    }
    lines.append(end.description)
    return lines
  }

  /// The last readable certificate of the path.
  private var top: Certificate? { builtIn.last ?? path.last.flatMap { offered[$0].certificate } }

  /// The indices of the certificates that are not on the path.
  private var unused: [Int] { offered.indices.filter { !path.contains($0) } }

  private static func drawn(_ entry: ChainCertificate, depth: Int, isLast: Bool) -> [String] {
    let margin = depth == 0 ? "" : String(repeating: "   ", count: depth - 1) + "└─ "
    let below = String(repeating: "   ", count: depth) + (isLast ? "   " : "│  ")
    guard let certificate = entry.certificate else { return [margin + entry.name] }
    let note = entry.isBuiltIn ? "  (built in, does not come along)" : ""
    return [margin + entry.name + note, below + details(of: certificate)]
  }

  private static func name(of entry: Offered) -> String {
    guard let certificate = entry.certificate else { return "MALFORMED: \(entry.error ?? "")" }
    return name(certificate.subjectCommonName, certificate.subject)
  }

  private static func name(_ commonName: String?, _ full: String) -> String {
    ShownText.plain(commonName ?? (full.isEmpty ? "(no name)" : full), limit: 64)
  }

  private static func details(of certificate: Certificate) -> String {
    let days = "\(TimeText.day(certificate.notBefore)) to \(TimeText.day(certificate.notAfter))"
    return "\(days)  sha256 \(certificate.sha256FingerprintHex.prefix(16))"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}

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
