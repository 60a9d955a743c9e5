// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptVerification

enum IdentityAlgorithm: String, CaseIterable, ExpressibleByArgument {
  case es256, rsa2048
  case rsa2048SHA1 = "rsa2048-sha1"
  case rsa3072SHA256 = "rsa3072-sha256"

  /// The algorithm of an identity with certificates; `nil` for an app's key, which has no certificates.
  var certified: CertificateAuthority.Algorithm? {
    switch self {
    case .es256: .es256
    case .rsa2048: .rsa2048
    case .rsa2048SHA1, .rsa3072SHA256: nil
    }
  }

  /// The length of an app's key, in bits.
  var appKeyBits: Int { self == .rsa3072SHA256 ? 3072 : 2048 }
}

extension IdentityCreateCommand: OutputOptions {
  func validate() throws {
    guard days ?? 1 > 0 else { throw ValidationError("--days takes a positive number.") }
    try refuse(
      [
        "--organization": organization != nil, "--days": days != nil, "--valid-from": validFrom != nil,
        "--marker": marker != nil,
      ], unless: algorithm.certified != nil,
      "is about certificates, and the key of an app (\(algorithm.rawValue)) has none")
  }

  func run() throws {
    let passphrase = try passphraseOptions.passphrase()
    for name in IdentityDirectory.fileNames { try CommandInputs.refuse(asOutput: "\(directory)/\(name)") }
    let options = try algorithm.certified.map { try self.options($0) }
    let identity = try options.map(SigningIdentity.create) ?? SigningIdentity(appKey: appKey())
    try IdentityDirectory(directory).write(identity, passphrase: passphrase, overwriting: overwrites)
    try write(directory, chain: identity.chain, publicKey: identity.privateKey.publicKey)
  }

  private func appKey() throws(SigningError) -> PrivateKey {
    do throws(CryptoError) {
      return try PrivateKey.generateRSA(bits: algorithm.appKeyBits)
    } catch {
      throw SigningError(error)
    }
  }

  private func options(_ algorithm: CertificateAuthority.Algorithm) throws -> CertificateAuthority.Options {
    var options = CertificateAuthority.Options(
      organization: organization ?? "ReceiptKit", algorithm: algorithm, start: SystemClock.now(),
      days: days ?? 3650)
    let validFrom = validFrom ?? "2008-01-01T00:00:00Z"
    if validFrom != "now" {
      options.validFrom = try parseInstant(validFrom, "--valid-from", or: "\"now\" or ")
    }
    if let marker {
      let markers = try PolicyOptions.markers(marker)
      options.leafMarker = markers.leaf
      options.intermediateMarker = markers.intermediate
    }
    return options
  }
}

extension IdentityShowCommand: OutputOptions {
  func run() throws {
    let publicKey = try IdentityDirectory(directory).loadPublicKey()
    let chain = try publicKey == nil ? IdentityDirectory(directory).loadChain() : []
    try write(directory, chain: chain, publicKey: publicKey)
  }
}

extension OutputOptions {
  /// Prints an identity; its public key is shown only if it has no certificates.
  fileprivate func write(_ directory: String, chain: [Certificate], publicKey: PublicKey?) throws {
    var lines = ["identity  \(directory)"]
    for (certificate, part) in zip(chain, ["signer", "intermediate", "root"]) {
      let start = Timestamp(secondsSince1970: certificate.notBefore).iso8601Seconds
      let end = Timestamp(secondsSince1970: certificate.notAfter).iso8601Seconds
      lines += [
        "  \(part)", "    subject  \(certificate.subject)", "    key      \(certificate.publicKey.kind.name)",
        "    valid    \(start) to \(end)", "    sha256   \(certificate.sha256FingerprintHex)",
      ]
    }
    let key = chain.isEmpty ? publicKey : nil
    if let key {
      lines += [
        "  key of an app, without certificates", "    key      \(key.kind.name)",
        "    sha256   \(key.sha256FingerprintHex)",
      ]
    }
    let certificates = chain.map {
      Output.Certificate(
        subject: $0.subject, issuer: $0.issuer, key: $0.publicKey.kind.name,
        notBefore: Timestamp(secondsSince1970: $0.notBefore),
        notAfter: Timestamp(secondsSince1970: $0.notAfter), sha256: $0.sha256FingerprintHex)
    }
    try write(
      Output.Identity(
        directory: directory, certificates: certificates, key: key?.kind.name,
        sha256: key?.sha256FingerprintHex,
        publicKey: key.map { Base64.encodeToString($0.subjectPublicKeyInfo) }),
      lines)
  }
}
