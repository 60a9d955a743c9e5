// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptInspection

  /// The certificates of a signer, root first, as a drawing and as a table.
  struct ChainPicture {
    let chainTitle: String
    let chainHeight: Int
    let boxes: [[String: Any]]
    let hasBoxes: Bool
    let arrows: [[String: Any]]
    let chainEnd: String
    let chainTable: TableView

    private static let boxHeight = 64
    private static let gap = 34

    init(_ signer: ClaimedSigner) {
      let chain = signer.chain
      let certificates = chain.certificates
      var boxes: [[String: Any]] = []
      var arrows: [[String: Any]] = []
      func top(ofBox index: Int) -> Int { 2 + index * (Self.boxHeight + Self.gap) }
      func add(_ style: String, _ name: String, _ role: String, _ details: String) {
        let top = top(ofBox: boxes.count)
        boxes.append(
          [
            "boxY": top, "boxClass": style, "boxName": name.shortened(to: 42), "boxRole": role,
            "boxDetails": details,
            "nameY": top + 22, "roleY": top + 39, "detailsY": top + 55,
          ])
      }
      if let missing = chain.missingIssuer {
        add("missing", missing.name, "missing", missing.reason)
      }
      for certificate in certificates {
        let validity = certificate.certificate.map {
          let (from, to) = Self.validity($0)
          return "\(ShownTime.day(from)) to \(ShownTime.day(to)), \($0.publicKey.kind.name)"
        }
        add(certificate.role.rawValue, certificate.name, Self.role(certificate), validity ?? "malformed")
      }
      let onPath = boxes.count - certificates.count { $0.role == .notOnPath }
      for level in 1..<max(1, onPath) {
        let bottom = top(ofBox: level)
        arrows.append(
          [
            "arrowTop": bottom - Self.gap, "arrowBottom": bottom - 6,
            "isBroken": level == 1 && chain.missingIssuer != nil, "arrowTextY": bottom - Self.gap / 2 + 3,
          ])
      }
      self.boxes = boxes
      hasBoxes = !boxes.isEmpty
      self.arrows = arrows
      chainHeight = 4 + boxes.count * (Self.boxHeight + Self.gap) - (boxes.isEmpty ? 0 : Self.gap)
      chainTitle = signer.part.map { "Signer of \($0)" } ?? "Signer"
      chainEnd =
        (signer.problem.map { "\($0.word)\($0.explanation). " } ?? "")
        + "Claims to be: \(signer.name ?? "nobody"). "
        + (chain.end == .otherRoot ? "The path ends in a root that is not built in." : chain.end.description)
      chainTable = TableView(
        "Certificates of the \(chainTitle.lowercased())",
        ["Certificate", "Place", "Valid from", "Valid to", "Key", "SHA-256"],
        certificates.map { certificate in
          let details = certificate.certificate
          let validity = details.map(Self.validity)
          return [
            CellView(certificate.name), CellView(Self.role(certificate)),
            CellView(validity.map { ShownTime.full($0.from) }),
            CellView(validity.map { ShownTime.full($0.to) }),
            CellView(details?.publicKey.kind.name), CellView(details?.sha256FingerprintHex),
          ]
        }, empty: "No certificates come along.")
    }

    private static func validity(_ certificate: Certificate) -> (from: Timestamp, to: Timestamp) {
      (Timestamp(secondsSince1970: certificate.notBefore), Timestamp(secondsSince1970: certificate.notAfter))
    }

    private static func role(_ certificate: ChainCertificate) -> String {
      let role =
        switch certificate.role {
        case .signer: "signer"
        case .intermediate: "intermediate issuer"
        case .root: "root"
        case .notOnPath: "not on the path from the signer"
        }
      return certificate.isBuiltIn ? "\(role), built in" : role
    }
  }

  extension String {
    fileprivate func shortened(to count: Int) -> String {
      self.count > count ? prefix(count - 1) + "…" : self
    }
  }
#endif
