// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

extension FixedKeyVerifier {
  /// Indicates whether this libcrypto supports verification by table. It must have the curve method and the required
  /// deprecated functions, and give the correct results for known valid and invalid signatures. The check runs once in
  /// a process, at first use, and takes as long as creating one table.
  package static let isAvailable = COpenSSL_FixedKey_available() && passesKnownAnswers()

  /// Checks the signature of "sample" in RFC 6979 appendix A.2.5, and altered copies of it.
  private static func passesKnownAnswers() -> Bool {
    guard let key = try? PublicKey(subjectPublicKeyInfo: PublicKey.knownKey), let table = FixedKeyTable(key),
      let signature = try? Base64.decode(Array(knownSignature.utf8), allowingWhitespace: true)
    else { return false }
    let verifier = FixedKeyVerifier(key, table: table)
    let digest = Digest.hash(Array("sample".utf8), using: .sha256)
    let otherDigest = Digest.hash(Array("test".utf8), using: .sha256)
    var alteredR = signature
    alteredR[31] ^= 1
    var alteredS = signature
    alteredS[32] ^= 1

    let signatures = [signature, alteredR, signature, alteredS, signature]
    let digests = [digest, digest, otherDigest, digest, digest]
    let expected = [true, false, false, false, true]
    let single = zip(signatures, digests).map { try? verifier.isValid($0.span, forDigest: $1.span) }
    let together = try? verifier.validities(
      signatures: Array(signatures.joined()).span, digests: Array(digests.joined()).span,
      count: signatures.count)
    return single == expected && together == expected
  }

  private static let knownSignature = """
    79SLKqy2qP0RQN2c1F6B1p0sh3tWqvmRw00OqE6vNxb3yxyULWV8QdQ2x6G24p9l
    8+kA27mv9AZNxKsvhDrNqA==
    """
}
