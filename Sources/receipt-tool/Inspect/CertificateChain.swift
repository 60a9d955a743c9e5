// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification

/// How the certificates of a receipt hang together: who issued whom, from the signer's up. Signatures of certificates are
/// computed to tell issuers of one name apart; that is no verification, for which dates, purposes and trust count.
struct CertificateChain {
  /// A certificate of the receipt.
  private struct Offered {
    let certificate: Certificate?
    let error: String?
  }

  private let offered: [Offered]
  /// Indices of the certificates from the signer's up.
  private let path: [Int]
  /// Issuers above the path that do not come along but are built in.
  private let builtIn: [Certificate]
  /// Whether the topmost of `path`, where another issued it, is not signed by the one that has the issuer's name.
  private let brokenLink: Int?

  /// - Parameters:
  ///   - encoded: The certificates in DER, as they come along.
  ///   - signer: The index of the signer's.
  init(_ encoded: [[UInt8]], signer: Int?) {
    let offered = encoded.map { der in
      do throws(CryptoError) {
        return Offered(certificate: try Certificate(der: der), error: nil)
      } catch {
        return Offered(certificate: nil, error: error.message)
      }
    }
    var path = signer.map { [$0] } ?? []
    var brokenLink: Int?
    while let last = path.last, let certificate = offered[last].certificate, !certificate.isSelfIssued {
      let named = offered.indices.filter { index in
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

  /// The signer's certificate.
  var signer: Certificate? { path.first.flatMap { offered[$0].certificate } }

  /// One line for each certificate that comes along: name, validity, fingerprint; those on the path first.
  var lines: [String] {
    let order = path + offered.indices.filter { !path.contains($0) }
    let names = order.map { Self.name(of: offered[$0]) }
    let width = names.map(\.count).max() ?? 0
    return zip(order, names).map { index, name in
      guard let certificate = offered[index].certificate else { return name }
      let note = path.contains(index) ? "" : "  not on the path"
      return name.padded(to: width) + "  \(Self.details(of: certificate))\(note)"
    }
  }

  /// The chain with its root at the top.
  var picture: [String] {
    guard !offered.isEmpty else { return ["There are no certificates."] }
    var lines: [String] = []
    let onPath = path.map { offered[$0] } + builtIn.map { Offered(certificate: $0, error: nil) }
    if let top = onPath.last?.certificate, !top.isSelfIssued {
      let why =
        brokenLink == nil
        ? "does not come along, and is not built in" : "the one of this name that comes along did not sign"
      lines.append("? \(Self.name(top.issuerCommonName, top.issuer))  (\(why))")
    }
    for (level, entry) in onPath.reversed().enumerated() {
      let depth = level + (lines.first?.hasPrefix("?") == true ? 1 : 0)
      let isOffered = onPath.count - level <= path.count
      lines += Self.drawn(entry, depth: depth, isOffered: isOffered, isLast: level == onPath.count - 1)
    }
    lines += [""] + conclusions
    return lines
  }

  private static func drawn(_ entry: Offered, depth: Int, isOffered: Bool, isLast: Bool) -> [String] {
    let margin = depth == 0 ? "" : String(repeating: "   ", count: depth - 1) + "└─ "
    let below = String(repeating: "   ", count: depth) + (isLast ? "   " : "│  ")
    guard let certificate = entry.certificate else { return [margin + Self.name(of: entry)] }
    let note = isOffered ? "" : "  (built in, does not come along)"
    return [margin + Self.name(of: entry) + note, below + Self.details(of: certificate)]
  }

  private var conclusions: [String] {
    var lines: [String] = []
    let unused = offered.indices.filter { !path.contains($0) }
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
    lines.append(conclusion)
    return lines
  }

  private var conclusion: String {
    guard let signer else { return "The certificate of the signer does not come along, or cannot be read." }
    if let brokenLink, let certificate = offered[brokenLink].certificate {
      return "The path breaks: a certificate has the name \(certificate.issuer), but its key did not sign "
        + "\(Self.name(certificate.subjectCommonName, certificate.subject))."
    }
    let top = builtIn.last ?? path.last.flatMap { offered[$0].certificate } ?? signer
    guard top.isSelfIssued else {
      return "The path ends at an issuer that does not come along and is not built in."
    }
    guard TrustAnchors.apple.contains(top) else {
      return
        "The path ends in a root that is not built in; --trust of 'receipt-tool verify' takes it from a file."
    }
    return "The path ends in a root that is built in, by its SHA-256."
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
