// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
internal import ReceiptCrypto

/// Answers OCSP requests (RFC 6960) about the certificates of an ``AuthorityDirectory``.
///
/// It needs no key of the authority: its signers were issued by ``AuthorityDirectory/issueResponder(of:key:days:at:passphrase:)``,
/// one for each issuer.
///
/// ```swift
/// let responder = OCSPResponder(authority, signers: [signerOfIntermediate, signerOfRoot])
/// let response = try responder.response(to: body, at: now)
/// ```
public struct OCSPResponder: Sendable {
  /// The maximum size of a request, in bytes.
  public static let maximumRequestByteCount = 1 << 16

  private let authority: AuthorityDirectory
  private let signers: [SigningIdentity]
  private let lifetime: Int64

  /// Creates a responder.
  ///
  /// - Parameters:
  ///   - authority: The authority, whose indexes are read for each response.
  ///   - signers: The identities that sign, each for the issuer of its certificate.
  ///   - lifetime: The seconds from `thisUpdate`, which is now, to `nextUpdate`.
  public init(_ authority: AuthorityDirectory, signers: [SigningIdentity], lifetime: Int64 = 3600) {
    self.authority = authority
    self.signers = signers
    self.lifetime = lifetime
  }

  /// Returns the response, in DER with the media type `application/ocsp-response`.
  ///
  /// A request that is not one is answered with `malformedRequest`, and one about another issuer's certificates with
  /// `unauthorized`. A certificate that the issuer has not issued is `unknown`. The nonce of a request is repeated if it
  /// has 1 to 128 bytes (RFC 9654 section 2.1).
  ///
  /// - Throws: ``SigningError`` with `malformed-authority`, `unreadable-file`, `unusable-issuer` if the signer's
  ///   certificate has expired, or `crypto-failure`: answer with HTTP status 500 then.
  public func response(to request: [UInt8], at now: Timestamp) throws(SigningError) -> [UInt8] {
    let received: ReceivedOCSPRequest
    do throws(OCSPError) {
      received = try ReceivedOCSPRequest(der: request)
    } catch {
      return OCSPResponseTemplate.refusal(error.code)
    }
    guard 1...128 ~= received.nonce?.count ?? 1 else {
      return OCSPResponseTemplate.refusal(.malformedRequest)
    }
    for issuer in try authority.issuers() {
      let numbers = received.identifiers.map {
        ReceivedOCSPRequest.serialNumber(in: $0, issuer: issuer.certificate)
      }
      guard numbers.contains(where: { $0 != nil }) else { continue }
      guard let signer = signers.first(where: { $0.chain.dropFirst().first == issuer.certificate }),
        let certificate = signer.leaf
      else { break }
      let seconds = now.wholeSecondsSince1970 ?? .max
      guard seconds <= certificate.notAfter else {
        throw SigningError(
          .unusableIssuer, at: certificate.subject,
          "The certificate of the responder has expired; issue another one: receipt-tool identity responder")
      }
      let index = try issuer.index()
      let answers = zip(received.identifiers, numbers).map { identifier, number in
        var answer = OCSPResponseTemplate.Answer(
          issuer.certificate, issuer: issuer.certificate,
          standing(number.flatMap { index[$0] }, isOurs: number != nil),
          thisUpdate: seconds, nextUpdate: seconds + lifetime)
        answer.identifier = identifier
        return answer
      }
      var template = OCSPResponseTemplate(answers, signer: certificate, key: signer.privateKey)
      template.namesKey = true
      template.includesSigner = true
      template.nonce = received.nonce
      do throws(CryptoError) {
        return try template.sign()
      } catch {
        throw SigningError(error)
      }
    }
    return OCSPResponseTemplate.refusal(.unauthorized)
  }

  private func standing(_ entry: CertificateIndex.Entry?, isOurs: Bool) -> CertificateStatus.Standing {
    guard isOurs, let entry else { return .unknown }
    return entry.revocation.map { .revoked(at: $0.date, reason: $0.reason) } ?? .good
  }
}
