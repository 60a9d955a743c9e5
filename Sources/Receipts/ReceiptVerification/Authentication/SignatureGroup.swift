// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Signatures of one signer, which are verified together with the precomputed table of the key's multiples.
struct SignatureGroup {
  private let signer: Signer
  private let verifier: FixedKeyVerifier
  private var members: [(index: Int, message: SignedMessage)] = []
  private var digests: [UInt8] = []
  private var signatures: [UInt8] = []

  /// Adds a receipt to the group of its signer.
  ///
  /// - Returns: `true` if the receipt was added; `false` if the signer has no table, the signed content has no prefix
  ///   that the signer's messages share, or the signature does not have 64 bytes.
  static func add(
    _ message: SignedMessage, by signer: Signer, at index: Int, to groups: inout [SignatureGroup]
  ) -> Bool {
    guard let prefixDigest = signer.prefixDigest, case .bytes(let bytes, let sharedPrefix) = message.signed,
      case let signature = message.signature, signature.count == FixedKeyVerifier.signatureByteCount,
      let verifier = signer.fixedKeyVerifier
    else { return false }
    let position: Int
    if let found = groups.firstIndex(where: { $0.signer === signer }) {
      position = found
    } else {
      position = groups.count
      groups.append(SignatureGroup(signer: signer, verifier: verifier))
    }
    let rest = bytes.dropFirst(sharedPrefix)
    prefixDigest.hash(ofPrefixAnd: rest.span).append(to: &groups[position].digests)
    groups[position].signatures += signature
    groups[position].members.append((index, message))
    return true
  }

  private init(signer: Signer, verifier: FixedKeyVerifier) {
    self.signer = signer
    self.verifier = verifier
  }

  /// Verifies the signatures and returns, for each receipt's index, the proven message or the error.
  func verified() -> [(index: Int, result: Result<ProvenMessage, ValidationError>)] {
    do throws(CryptoError) {
      let validities = try verifier.validities(
        signatures: signatures.span, digests: digests.span, count: members.count)
      return zip(members, validities).map { member, isValid in
        (
          member.index,
          isValid
            ? .success(ProvenMessage(message: member.message, signer: signer, paths: signer.paths[...]))
            : .failure(.signatureMismatch(of: member.message))
        )
      }
    } catch {
      return members.map {
        ($0.index, .failure(.notComputed(error, at: $0.message.format.terms.place)))
      }
    }
  }
}
