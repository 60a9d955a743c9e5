// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Testing

/// What no command shows is in test_authority.py.
@Suite struct AuthorityDirectoryTests {
  private static let passphrase = Array("correct horse battery".utf8)
  private static let later = testStart.addingSeconds(86_400)
  private static let seconds: Int64 = 1_759_276_800 + 86_400

  private func withAuthority<Result>(
    _ change: (inout CertificateAuthority.Options) -> Void = { _ in },
    _ body: (AuthorityDirectory, Certificate) throws -> Result
  ) throws -> Result {
    try withTemporaryDirectory { parent in
      let authority = AuthorityDirectory("\(parent)/authority")
      var options = CertificateAuthority.Options(organization: "Test Store", start: testStart, days: 365)
      change(&options)
      let root = try authority.create(options, passphrase: Self.passphrase)
      return try body(authority, root)
    }
  }

  private func faultOfReading(_ authority: AuthorityDirectory) -> SigningError? {
    signingError { () throws(SigningError) in _ = try authority.certificates() }
  }

  @Test func everySignerHasAPathToTheSameRoot() throws {
    try withAuthority { authority, root in
      var serialNumbers: Set<[UInt8]> = []
      for days in [1, 30, 365] {
        let signer = try authority.issueSigner(
          SignerOptions(days: days), at: Self.later, passphrase: Self.passphrase)
        #expect(signer.chain[2] == root && signer.chain[0].notAfter == Self.seconds + Int64(days) * 86_400)
        let failure = try CertificationPath.failure(
          leaf: signer.chain[0], intermediates: [signer.chain[1]], anchor: root, at: Self.seconds)
        #expect(failure == nil)
        serialNumbers.insert(signer.chain[0].serialNumber)
      }
      #expect(serialNumbers.count == 3)
      let listed = try authority.certificates()
      #expect(listed.map(\.issuer) == ["root", "intermediate-1", "intermediate-1", "intermediate-1"])
      #expect(
        listed[1].subject == "/O=Test Store/CN=Test Store Receipt Signing" && listed[1].revokedAt == nil)
    }
  }

  @Test func theExtensionsOfTheAuthorityAreThoseOfEverySigner() throws {
    try withAuthority {
      $0.country = "DE"
      $0.leafMarker = "1.3.6.1.4.1.99999.1"
      $0.intermediateMarker = "1.3.6.1.4.1.99999.2"
      $0.ocspURL = "http://ocsp.example.com"
      $0.crlURL = "http://pki.example.com/lists"
    } _: { authority, root in
      for (number, list) in [(1, "intermediate-1"), (2, "intermediate-2")] {
        let signer = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase)
        #expect(signer.chain[0].hasExtension("1.3.6.1.4.1.99999.1"))
        #expect(signer.chain[1].hasExtension("1.3.6.1.4.1.99999.2"))
        #expect(signer.chain[0].crlURLs == ["http://pki.example.com/lists/\(list).crl"])
        #expect(signer.chain[1].crlURLs == ["http://pki.example.com/lists/root.crl"])
        #expect(signer.chain.prefix(2).allSatisfy { $0.ocspURLs == ["http://ocsp.example.com"] })
        #expect(root.ocspURLs.isEmpty && root.crlURLs.isEmpty)
        if number == 1 { try authority.issueIntermediate(at: Self.later, passphrase: Self.passphrase) }
      }
    }
  }

  @Test func aListHasEveryRevocationAndItsNumberGrows() throws {
    try withAuthority { authority, root in
      let signers = try (0..<3).map { _ in
        try authority.issueSigner(at: Self.later, passphrase: Self.passphrase)
      }
      let intermediate = signers[0].chain[1]
      for (number, signer) in signers.enumerated() {
        let list = try authority.revocationList(days: 2, at: Self.later, passphrase: Self.passphrase)
        #expect(list.number == Int64(number) + 1 && list.count == number)
        let decoded = try CertificateRevocationList(der: list.der)
        for (index, other) in signers.enumerated() {
          let status = try decoded.status(of: other.chain[0], issuer: intermediate, at: Self.seconds)
          #expect(
            status.standing == (index < number ? .revoked(at: Self.seconds - 60, reason: .superseded) : .good)
          )
          #expect(status.nextUpdate == Self.seconds + 2 * 86_400)
        }
        let revoked = try authority.revoke(
          signer.chain[0], reason: .superseded, date: Self.later.addingSeconds(-60), at: Self.later)
        #expect(revoked.revokedAt == Self.later.addingSeconds(-60) && revoked.reason == .superseded)
      }
    }
  }

  @Test func aSerialNumberMayHaveColonsAndCapitals() throws {
    try withAuthority { authority, _ in
      let signer = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase)
      let number = signer.chain[0].serialNumberHex.uppercased()
      let pairs = stride(from: 0, to: number.count, by: 2).map { number.dropFirst($0).prefix(2) }
      let revoked = try authority.revoke(
        serialNumber: pairs.joined(separator: ":"), reason: .keyCompromise, at: Self.later)
      #expect(revoked.serialNumber == signer.chain[0].serialNumberHex)
      let again = signingError { () throws(SigningError) in
        _ = try authority.revoke(serialNumber: number, reason: .keyCompromise, at: Self.later)
      }
      #expect(again?.code == .alreadyRevoked)
    }
  }

  @Test func whatWasSignedEarlierInTheSecondOfARevocationWasSignedBefore() throws {
    try withAuthority { authority, _ in
      let signer = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase)
      let now = Timestamp(millisecondsSince1970: Self.later.millisecondsSince1970 + 600)
      let revoked = try authority.revoke(signer.chain[0], reason: .superseded, at: now)
      #expect(revoked.revokedAt == Self.later.addingSeconds(1))
    }
  }

  @Test func aResponderAnswersForItsIssuerAlone() throws {
    try withAuthority { authority, root in
      let signer = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase)
      let (leaf, intermediate) = (signer.chain[0], signer.chain[1])
      let responders = [
        try authority.issueResponder(at: Self.later, passphrase: Self.passphrase),
        try authority.issueResponder(of: "root", at: Self.later, passphrase: Self.passphrase),
      ]
      let responder = OCSPResponder(authority, signers: responders)
      func standing(_ certificate: Certificate, _ issuer: Certificate) throws -> CertificateStatus.Standing {
        let request = try OCSPRequest(certificate: certificate, issuer: issuer)
        return try OCSPResponse(der: responder.response(to: request.der, at: Self.later)).status(
          of: certificate, issuer: issuer, nonce: request.nonce, requiresNonce: true, at: Self.seconds
        ).standing
      }
      #expect(try standing(leaf, intermediate) == .good)
      #expect(try standing(intermediate, root) == .good)
      try authority.revoke(leaf, reason: .keyCompromise, at: Self.later)
      #expect(try standing(leaf, intermediate) == .revoked(at: Self.seconds, reason: .keyCompromise))
      #expect(try standing(intermediate, root) == .good)
      // Another authority with the same names and keys would be needed for a certificate that is not in the index.
      var template = CertificateAuthority.Options(organization: "Test Store", start: testStart).leafTemplate
      template.serialNumber = [0x7B]
      let identity = try IdentityDirectory("\(authority.path)/intermediate-1").load(
        passphrase: Self.passphrase)
      let stranger = try Certificate.issue(
        template, for: signer.privateKey.publicKey, by: .authority(intermediate, identity.privateKey))
      #expect(try standing(stranger, intermediate) == .unknown)
      let alone = OCSPResponder(authority, signers: [responders[1]])
      let request = try OCSPRequest(certificate: leaf, issuer: intermediate).der
      let refusal = #expect(throws: OCSPError.self) {
        try OCSPResponse(der: alone.response(to: request, at: Self.later))
      }
      #expect(refusal?.code == .unauthorized)
      // The responder's certificate ends after 90 days.
      let late = signingError { () throws(SigningError) in
        _ = try responder.response(to: request, at: Self.later.addingSeconds(91 * 86_400))
      }
      #expect(late?.code == .unusableIssuer)
    }
  }

  @Test func aRevokedIntermediateIssuesNothingAndIsReplaced() throws {
    try withAuthority { authority, root in
      let first = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase)
      try authority.revoke(first.chain[1], reason: .cACompromise, at: Self.later)
      let error = signingError { () throws(SigningError) in
        _ = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase)
      }
      #expect(error?.code == .unusableIssuer)
      let chain = try authority.issueIntermediate(at: Self.later, passphrase: Self.passphrase)
      let second = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase)
      #expect(second.chain.dropFirst() == chain[...] && chain[1] == root && chain[0] != first.chain[1])
    }
  }

  @Test func aReasonBecomesGraverAndNotMilder() throws {
    try withAuthority { authority, _ in
      let signer = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase).chain[0]
      func revoke(_ reason: CRLReason) -> SigningError.Code? {
        signingError { () throws(SigningError) in
          _ = try authority.revoke(signer, reason: reason, at: Self.later)
        }?.code
      }
      #expect(revoke(.superseded) == nil)
      #expect(revoke(.cessationOfOperation) == .alreadyRevoked)
      #expect(revoke(.keyCompromise) == nil)
      #expect(revoke(.superseded) == .alreadyRevoked && revoke(.keyCompromise) == .alreadyRevoked)
      #expect(revoke(.certificateHold) == .invalidValue)
      let listed = try authority.certificates()
      #expect(listed.last?.reason == .keyCompromise)
    }
  }

  @Test func anIndexIsReadWholeOrNotAtAll() throws {
    try withAuthority { authority, _ in
      let signer = try authority.issueSigner(at: Self.later, passphrase: Self.passphrase).chain[0]
      try authority.revoke(signer, reason: .superseded, at: Self.later)
      let file = "\(authority.path)/intermediate-1/index.txt"
      let whole = try contents(file)
      // Of every byte that is cut off or changed either nothing is read, or the entry as it was but for its subject.
      for length in 0..<whole.count {
        try write(Array(whole[..<length]), to: file)
        #expect(
          faultOfReading(authority)?.code
            == .malformedAuthority)
      }
      let header = try #require(whole.firstIndex(of: 0x0A))
      try write(Array(whole[...header]), to: file)
      #expect(
        faultOfReading(authority)?.place == "\(file), line 1")
      for position in 0...header {
        var changed = whole
        changed[position] ^= 1
        try write(changed, to: file)
        #expect(
          faultOfReading(authority)?.code
            == .malformedAuthority)
      }
      for line in [
        "", "V", "V\t\t\t01\tunknown\t/CN=x", "X\t361127033707Z\t\t01\tunknown\t/CN=x",
        "V\t361327033707Z\t\t01\tunknown\t/CN=x", "V\t361127033707Z\t361127033707Z\t01\tunknown\t/CN=x",
        "R\t361127033707Z\t\t01\tunknown\t/CN=x", "R\t361127033707Z\t261127033707Z,why\t01\tunknown\t/CN=x",
        "V\t361127033707Z\t\t\tunknown\t/CN=x", "V\t361127033707Z\t\t0G\tunknown\t/CN=x",
      ] {
        try write(whole[...header] + Array("\(line)\n".utf8), to: file)
        let error = faultOfReading(authority)
        #expect(error?.place == "\(file), line 2", "\(line)")
      }
    }
  }

  @Test func whatCannotBeIssued() throws {
    try withAuthority { authority, root in
      let expired = Timestamp(secondsSince1970: root.notAfter + 1)
      let error = signingError { () throws(SigningError) in
        _ = try authority.issueSigner(at: expired, passphrase: Self.passphrase)
      }
      #expect(error?.code == .unusableIssuer)
      let long = signingError { () throws(SigningError) in
        _ = try authority.issueSigner(
          SignerOptions(commonName: String(repeating: "x", count: 65)), at: Self.later,
          passphrase: Self.passphrase)
      }
      #expect(long?.code == .invalidValue)
      let unknown = signingError { () throws(SigningError) in
        _ = try authority.revocationList(of: "../root", at: Self.later, passphrase: Self.passphrase)
      }
      #expect(unknown?.code == .invalidValue)
      let weak = signingError { () throws(SigningError) in
        try AuthorityDirectory(authority.path + "-2").create(
          .init(start: testStart), passphrase: Array("short".utf8))
      }
      #expect(weak?.code == .invalidValue && permissions(authority.path + "-2") == nil)
      let listed = try authority.certificates()
      #expect(listed.count == 1)
    }
  }
}
