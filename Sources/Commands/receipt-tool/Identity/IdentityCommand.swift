// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
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
        "--organization": organization != nil, "--country": country != nil, "--days": days != nil,
        "--valid-from": validFrom != nil, "--marker": marker != nil, "--keep-root": authority != nil,
        "--ocsp-url": ocspURL != nil, "--crl-url": crlURL != nil,
      ], unless: algorithm.certified != nil,
      "is about certificates, and the key of an app (\(algorithm.rawValue)) has none")
    try refuse(
      [
        "--root-key": rootKey != nil, "--intermediate-key": intermediateKey != nil,
        "--authority-passphrase-file": authorityPassphrase.file != nil,
        "--authority-passphrase-env": authorityPassphrase.variable != nil,
      ], unless: authority != nil, "needs --keep-root")
    for (option, url) in [("--ocsp-url", ocspURL), ("--crl-url", crlURL)] {
      guard let url else { continue }
      guard url.hasPrefix("http://") || url.hasPrefix("https://"), url.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
        !url.hasSuffix("/")
      else {
        throw ValidationError(
          "\(option) takes a URL such as http://pki.example.com, without a slash at its end.")
      }
    }
    if let country {
      guard country.utf8.count == 2, country.utf8.allSatisfy({ 0x41...0x5A ~= $0 }) else {
        throw ValidationError("--country takes two capital letters, such as DE (ISO 3166).")
      }
    }
  }

  func run() throws {
    let passphrase = try passphraseOptions.passphrase()
    for name in IdentityDirectory.fileNames { try CommandInputs.refuse(asOutput: "\(directory)/\(name)") }
    let key = try key.map { try SigningKey.load($0, passphrase: passphrase) }
    guard let kind = algorithm.certified else {
      let appKey = try key ?? appKey()
      let identity = SigningIdentity(appKey: appKey)
      try IdentityDirectory(directory).write(identity, passphrase: passphrase, overwriting: overwrites)
      return try write(directory, chain: [], publicKey: appKey.publicKey)
    }
    if !overwrites { try IdentityDirectory(directory).requireAbsent() }
    let options = try options(kind)
    let identity: SigningIdentity
    if let authority {
      let secret = try authorityPassphrase.newPassphrase()
      let keys = try [rootKey, intermediateKey].map {
        try $0.map { try SigningKey.load($0, passphrase: secret) }
      }
      let kept = AuthorityDirectory(authority)
      try kept.create(options, passphrase: secret, rootKey: keys[0], intermediateKey: keys[1])
      identity = try kept.issueSigner(
        key: key, SignerOptions(days: days ?? 3650), at: SystemClock.now(), passphrase: secret)
    } else {
      identity = try CertificateAuthority.create(options).issueLeaf(key: key)
    }
    try IdentityDirectory(directory).write(identity, passphrase: passphrase, overwriting: overwrites)
    try write(directory, authority: authority, chain: identity.chain)
  }

  private func appKey() throws(SigningError) -> PrivateKey {
    do throws(CryptoError) {
      return try PrivateKey.generateRSA(bits: algorithm.appKeyBits)
    } catch {
      throw SigningError(error)
    }
  }

  private func options(_ algorithm: CertificateAuthority.Algorithm) throws -> CertificateAuthority.Options {
    let name = organization ?? Terminal.ask("Organization, which the certificates name")
    guard name != nil || authority == nil else {
      throw ToolExit.failure(
        .usage, "certificates that are kept name their organization: give --organization NAME")
    }
    var options = CertificateAuthority.Options(
      organization: name ?? "ReceiptKit", country: country, algorithm: algorithm, start: SystemClock.now(),
      days: days ?? 3650)
    options.validFrom = try validFromInstant(validFrom ?? "2008-01-01T00:00:00Z")
    options.ocspURL = ocspURL
    options.crlURL = crlURL
    if let marker {
      let markers = try PolicyOptions.markers(marker)
      options.leafMarker = markers.leaf
      options.intermediateMarker = markers.intermediate
    }
    return options
  }
}

/// The instant of `--valid-from`; `nil` for "now".
func validFromInstant(_ text: String) throws -> Timestamp? {
  text == "now" ? nil : try parseInstant(text, "--valid-from", or: "\"now\" or ")
}

/// A private key that exists already, in a file or in a token.
enum SigningKey {
  static func load(_ text: String, passphrase: [UInt8]?) throws -> PrivateKey {
    guard PrivateKey.isTokenURI(text) else {
      let contents = try InputFile.contents(of: text)
      do throws(SigningError) {
        return try SigningIdentity.privateKey(inFile: contents, passphrase: passphrase)
      } catch {
        throw ToolExit.failure(for: error, GivenValue.described(text))
      }
    }
    do throws(CryptoError) {
      return try PrivateKey(tokenURI: text, pin: passphrase)
    } catch {
      throw ToolExit.failure(for: SigningError(error), GivenValue.described(text))
    }
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
  func write(
    _ directory: String, authority: String? = nil, chain: [Certificate], publicKey: PublicKey? = nil,
    parts: [String] = ["signer", "intermediate", "root"]
  ) throws {
    var lines = ["identity  \(directory)"]
    if let authority { lines.append("authority  \(authority)") }
    for (certificate, part) in zip(chain, parts) {
      let start = Timestamp(secondsSince1970: certificate.notBefore).iso8601Seconds
      let end = Timestamp(secondsSince1970: certificate.notAfter).iso8601Seconds
      lines += [
        "  \(part)", "    subject  \(certificate.subject)", "    serial   \(certificate.serialNumberHex)",
        "    key      \(certificate.publicKey.kind.name)", "    valid    \(start) to \(end)",
        "    sha256   \(certificate.sha256FingerprintHex)",
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
        subject: $0.subject, issuer: $0.issuer, serialNumber: $0.serialNumberHex, key: $0.publicKey.kind.name,
        notBefore: Timestamp(secondsSince1970: $0.notBefore),
        notAfter: Timestamp(secondsSince1970: $0.notAfter), sha256: $0.sha256FingerprintHex)
    }
    try write(
      Output.Identity(
        directory: directory, authority: authority, certificates: certificates, key: key?.kind.name,
        sha256: key?.sha256FingerprintHex,
        publicKey: key.map { Base64.encodeToString($0.subjectPublicKeyInfo) }),
      lines)
  }
}
