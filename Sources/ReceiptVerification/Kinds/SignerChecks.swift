// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// What the kinds share in judging who signed.
extension ReceiptVerifier {
  func parseCertificates(_ encoded: [[UInt8]]) throws(Objection) -> [Certificate] {
    // A genuine receipt has three; parsing thousands would be work for nothing.
    let most = 16
    guard encoded.count <= most else {
      throw .invalid(
        .chainLength, "The receipt embeds \(encoded.count) certificates; at most \(most) are looked at.")
    }
    var certificates: [Certificate] = []
    for (index, der) in encoded.enumerated() {
      if let atHand = trust.certificates.first(where: { $0.der == der }) {
        certificates.append(atHand)
        continue
      }
      do throws(CryptoError) {
        certificates.append(try Certificate(der: der))
      } catch {
        throw .invalid(
          .malformed, at: "certificate \(index)", "It is not a well-formed certificate: \(error)")
      }
    }
    return certificates
  }

  func signingChains(
    _ builder: SigningChainBuilder, leaf: Certificate, intermediates: [Certificate], roots: [Certificate]
  ) throws(Objection) -> [SigningChain] {
    let chains: [SigningChain]
    do throws(SigningChainBuilder.Failure) {
      chains = try builder.chains(leaf: leaf, intermediates: intermediates, roots: roots)
    } catch {
      switch error {
      case .refused(let reason): throw .invalid(reason)
      case .issuerMissing(let reason): throw .undetermined(reason)
      }
    }
    explain(
      .chain, passed: true,
      "\"\(leaf.subject)\" leads to the trusted root with SHA-256 \(chains.first?.rootSHA256 ?? "")")
    return chains
  }

  func demandAlgorithm(_ algorithm: ReceiptAlgorithm) throws(Objection) {
    guard policy.algorithms.contains(algorithm) else {
      throw .invalid(.unsupportedAlgorithm, "The policy does not accept \(algorithm.rawValue).")
    }
  }

  func demandRSA(_ leaf: Certificate, atLeast bits: Int) throws(Objection) {
    guard case .rsa(let found) = leaf.publicKey.kind, found >= bits else {
      throw .invalid(
        .unsupportedAlgorithm, at: "certificate 0",
        "The signer's key is not RSA of \(bits) bits or more, as this kind of receipt demands.")
    }
  }
}
