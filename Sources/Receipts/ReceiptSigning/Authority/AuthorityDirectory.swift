// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptCrypto

/// A certification authority (RFC 5280) in a directory: a root and its intermediates with their encrypted keys, and the
/// index of what they issued.
///
/// It issues further signers under a root that verifiers trust already, and revokes them:
///
/// ```swift
/// let authority = AuthorityDirectory("my-authority")
/// try authority.create(.init(organization: "Example", start: now), passphrase: passphrase)
/// let first = try authority.issueSigner(at: now, passphrase: passphrase)
/// let second = try authority.issueSigner(at: later, passphrase: passphrase)
/// try authority.revoke(first.chain[0], reason: .superseded, at: later)
/// let list = try authority.revocationList(at: later, passphrase: passphrase)
/// ```
///
/// The directory has `root` and `intermediate-1`, an issuer each; a replaced intermediate is followed by
/// `intermediate-2`. The directory `root` is needed only to issue intermediates and to revoke them, and can be kept on
/// another medium until then. Every change is atomic, and processes that change the directory wait for each other. A
/// passphrase is at the same time the PIN of a key that is in a token.
public struct AuthorityDirectory: Sendable, Hashable {
  /// The directory's path, absolute or relative to the working directory.
  public let path: String

  /// Creates a reference to a directory, without accessing it.
  public init(_ path: String) { self.path = path }

  static let rootName = "root"
  static let firstIntermediate = intermediateName(1)
  private static let settingsName = "authority.json"
  private static let lockName = "lock"

  private static func intermediateName(_ number: Int) -> String { "intermediate-\(number)" }

  /// Creates root and intermediate, and writes them. It issues no signer yet.
  ///
  /// The directory appears when it is complete; until then it has another name, which ends in `.new`.
  ///
  /// - Parameters:
  ///   - options: The names, the validity and the extensions of all certificates.
  ///   - passphrase: Encrypts the two keys (PKCS#8, PBES2 with PBKDF2 and AES-256); at least 8 bytes.
  ///   - rootKey: The root's key, if it exists already, as in a token; a new one by default.
  ///   - intermediateKey: The same of the intermediate.
  /// - Returns: The root, which verifiers must trust.
  /// - Throws: ``SigningError`` with `invalid-value` (a short passphrase among others), `file-exists`,
  ///   `unwritable-file` or `crypto-failure`.
  @discardableResult
  public func create(
    _ options: CertificateAuthority.Options, passphrase: [UInt8], rootKey: PrivateKey? = nil,
    intermediateKey: PrivateKey? = nil
  ) throws(SigningError) -> Certificate {
    let rootKey = if let rootKey { rootKey } else { try options.algorithm.generateKey() }
    let intermediateKey =
      if let intermediateKey { intermediateKey } else { try options.algorithm.generateKey() }
    try Self.requireStrength(of: passphrase, for: [rootKey, intermediateKey])
    let authority = try CertificateAuthority.create(
      options, rootKey: rootKey, intermediateKey: intermediateKey)
    try NewDirectory.create(path) { temporary throws(SigningError) in
      let root = try IssuerDirectory.create(
        Self.rootName, in: temporary, SigningIdentity(privateKey: rootKey, chain: [authority.root]),
        passphrase: passphrase)
      if let intermediate = authority.intermediate.leaf {
        try root.add(intermediate, to: CertificateIndex(of: authority.root))
      }
      try IssuerDirectory.create(
        Self.firstIntermediate, in: temporary, authority.intermediate, passphrase: passphrase)
      try FileStore.create(
        "\(temporary)/\(Self.settingsName)", mode: 0o644,
        contents: AuthoritySettings(options).encodedJSON() + [0x0A])
      try FileStore.create("\(temporary)/\(Self.lockName)", mode: 0o600, contents: [])
    }
    return authority.root
  }

  /// Issues a signer under the newest intermediate: a leaf and its private key.
  ///
  /// - Parameters:
  ///   - key: The signer's key, if it exists already, as in a token; a new one by default.
  ///   - options: The certificate's name and validity.
  ///   - now: The current time.
  ///   - passphrase: The passphrase of the intermediate's key.
  /// - Returns: The identity that signs receipts, with the chain leaf, intermediate, root.
  /// - Throws: ``SigningError``: `unusable-issuer` if the intermediate has expired or is revoked, `wrong-passphrase`,
  ///   `key-mismatch` if the key's file is that of another issuer, `malformed-authority`, `authority-busy`,
  ///   `unwritable-file` and others.
  public func issueSigner(
    key: PrivateKey? = nil, _ options: SignerOptions = SignerOptions(), at now: Timestamp,
    passphrase: [UInt8]?
  ) throws(SigningError) -> SigningIdentity {
    let kind = if let kind = options.algorithm { kind } else { try settings().kind() }
    let key = if let key { key } else { try kind.generateKey() }
    let chain = try issueCertificate(for: key.publicKey, options, at: now, passphrase: passphrase)
    return try SigningIdentity(privateKey: key, chain: chain)
  }

  /// Issues a signer for a key that is somewhere else.
  ///
  /// - Returns: The chain leaf, intermediate, root.
  /// - Throws: ``SigningError``, as
  ///   ``issueSigner(key:_:at:passphrase:)`` does, and `unsuitable-key` unless the key is on P-256 or RSA of 2048 bits or
  ///   more.
  public func issueCertificate(
    for publicKey: PublicKey, _ options: SignerOptions = SignerOptions(), at now: Timestamp,
    passphrase: [UInt8]?
  ) throws(SigningError) -> [Certificate] {
    switch publicKey.kind {
    case .p256: break
    case .rsa(let bits) where bits >= 2048: break
    default:
      throw SigningError(
        .unsuitableKey,
        "Receipts are signed with P-256 or RSA of 2048 bits, and this key is \(publicKey.kind.name).")
    }
    return try locked { () throws(SigningError) in
      let issuer = try newestIntermediate()
      let settings = try settings()
      var authority = try settings.options(start: now)
      authority.leafName = options.commonName ?? authority.leafName
      authority.leafDays = options.days
      authority.validFrom = options.validFrom ?? authority.validFrom
      var template = authority.leafTemplate
      template.additionalExtensions = authority.pointers(list: issuer.name)
      return try issue(template, for: publicKey, by: issuer, at: now, passphrase: passphrase)
    }
  }

  /// Issues a signer of OCSP responses about the certificates of an issuer (RFC 6960 section 4.2.2.2).
  ///
  /// - Parameters:
  ///   - issuerName: The issuer, such as `root`; the newest intermediate by default.
  ///   - key: The key, if it exists already; a new one by default.
  ///   - days: The validity in days from now. The certificate itself cannot be revoked, so that it should be short.
  ///   - now: The current time.
  ///   - passphrase: The passphrase of the issuer's key.
  /// - Returns: The identity that signs responses, with the chain of the issuer.
  /// - Throws: ``SigningError``, as ``issueSigner(key:_:at:passphrase:)`` does.
  public func issueResponder(
    of issuerName: String? = nil, key: PrivateKey? = nil, days: Int = 90, at now: Timestamp,
    passphrase: [UInt8]?
  ) throws(SigningError) -> SigningIdentity {
    let settings = try settings()
    let key = if let key { key } else { try settings.kind().generateKey() }
    let chain = try locked { () throws(SigningError) in
      let issuer = try self.issuer(named: issuerName)
      var authority = try settings.options(start: now)
      authority.validFrom = now.addingSeconds(-300)
      var template = authority.template(
        named: "\(settings.organization) OCSP Responder", days: days, serialNumber: nil)
      template.basicConstraints = .endEntity
      template.keyUsage = .digitalSignature
      template.extendedKeyUsages = [ObjectIdentifiers.ocspSigning]
      template.markers = [ObjectIdentifiers.ocspNoCheck]
      return try issue(template, for: key.publicKey, by: issuer, at: now, passphrase: passphrase)
    }
    return try SigningIdentity(privateKey: key, chain: chain)
  }

  /// Issues another intermediate with the root's key, under which signers are issued from then on: when the last one
  /// expires, or after it was revoked.
  ///
  /// - Parameters:
  ///   - key: The intermediate's key, if it exists already; a new one by default.
  ///   - days: The validity of the signers under it, in days from now; the intermediate is valid five years longer.
  ///   - now: The current time.
  ///   - passphrase: The passphrase of the root's key, and of the new one.
  /// - Returns: The intermediate and the root.
  /// - Throws: ``SigningError``, as ``issueSigner(key:_:at:passphrase:)`` does.
  @discardableResult
  public func issueIntermediate(
    key: PrivateKey? = nil, days: Int = 3650, at now: Timestamp, passphrase: [UInt8]
  ) throws(SigningError) -> [Certificate] {
    let settings = try settings()
    let key = if let key { key } else { try settings.kind().generateKey() }
    try Self.requireStrength(of: passphrase, for: [key])
    return try locked { () throws(SigningError) in
      let root = try issuer(named: Self.rootName)
      let number = try intermediateNumbers().last ?? 0
      var authority = try settings.options(start: now)
      authority.leafDays = days
      let chain = try issue(
        authority.intermediateTemplate, for: key.publicKey, by: root, at: now, passphrase: passphrase)
      try IssuerDirectory.create(
        Self.intermediateName(number + 1), in: path, SigningIdentity(privateKey: key, chain: chain),
        passphrase: passphrase)
      return chain
    }
  }

  /// All certificates that root and intermediates have issued, in their order.
  ///
  /// - Throws: ``SigningError`` with `malformed-authority` or `unreadable-file`.
  public func certificates() throws(SigningError) -> [IssuedCertificate] {
    var found: [IssuedCertificate] = []
    for issuer in try issuers() {
      for entry in try issuer.index().entries { found.append(IssuedCertificate(entry, issuer: issuer.name)) }
    }
    return found
  }

  /// Revokes a certificate: the next revocation list names it, and so do OCSP responses. No key is needed.
  ///
  /// - Parameters:
  ///   - certificate: A certificate that an issuer of the directory has signed, even if it is not in the index.
  ///   - reason: The reason. After a key was stolen it is `CRLReason.keyCompromise`: with `superseded`,
  ///     `cessationOfOperation` or `affiliationChanged` a verifier may still accept what states an earlier date.
  ///   - date: The date of the revocation, which must not be after `now`.
  ///   - now: The current time.
  /// - Returns: The certificate as it is in the index now.
  /// - Throws: ``SigningError`` with `unknown-certificate`, `invalid-value`, or `already-revoked`. A certificate that is
  ///   revoked for one of the three reasons can be revoked again for a graver one.
  @discardableResult
  public func revoke(
    _ certificate: Certificate, reason: CRLReason, date: Timestamp? = nil, at now: Timestamp
  ) throws(SigningError) -> IssuedCertificate {
    try revoke(
      CertificateIndex.Entry(certificate), reason: reason, date: date, at: now,
      by: try issuers().first { certificate.isSigned(by: $0.certificate) })
  }

  /// Revokes the certificate with a serial number.
  ///
  /// - Parameters:
  ///   - serialNumber: The serial number in hexadecimal, with or without colons.
  ///   - reason: The reason.
  ///   - date: The date of the revocation, which must not be after `now`.
  ///   - now: The current time.
  /// - Returns: The certificate as it is in the index now.
  /// - Throws: ``SigningError``, as ``revoke(_:reason:date:at:)-(Certificate,_,_,_)`` does.
  @discardableResult
  public func revoke(
    serialNumber: String, reason: CRLReason, date: Timestamp? = nil, at now: Timestamp
  ) throws(SigningError) -> IssuedCertificate {
    let digits = serialNumber.filter { $0 != ":" }
    guard let octets = Hexadecimal.decode(digits.count.isMultiple(of: 2) ? digits : "0" + digits) else {
      throw SigningError(
        .invalidValue, at: serialNumber,
        "A serial number is hexadecimal digits, as `identity list` prints it.")
    }
    let wanted = octets.drop { $0 == 0 }
    for issuer in try issuers() {
      let index = try issuer.index()
      if let entry = index.entries.first(where: { $0.serialNumber.drop { $0 == 0 } == wanted }) {
        return try revoke(entry, reason: reason, date: date, at: now, by: issuer)
      }
    }
    throw SigningError(
      .unknownCertificate, at: serialNumber,
      "No issuer of \(path) has issued a certificate with this serial number; see `identity list`.")
  }

  /// Signs the revocation list of an issuer, with every certificate that it has revoked.
  ///
  /// - Parameters:
  ///   - issuerName: The issuer, such as `root`; the newest intermediate by default.
  ///   - days: The days until the next list must be there.
  ///   - now: The current time.
  ///   - passphrase: The passphrase of the issuer's key.
  /// - Returns: The list, with its number and dates.
  /// - Throws: ``SigningError``, as ``issueSigner(key:_:at:passphrase:)`` does, except that a revoked issuer still signs.
  public func revocationList(
    of issuerName: String? = nil, days: Int = 30, at now: Timestamp, passphrase: [UInt8]?
  ) throws(SigningError) -> IssuedRevocationList {
    guard let start = now.wholeSecondsSince1970, 1...36_500 ~= days else {
      throw SigningError(.invalidValue, at: "days", "A list is valid for 1 to 36500 days.")
    }
    return try locked { () throws(SigningError) in
      let issuer = try self.issuer(named: issuerName)
      let identity = try issuer.identity(passphrase: passphrase)
      let revoked = try issuer.index().entries.compactMap { entry in
        entry.revocation.map {
          RevocationListTemplate.Entry(
            serialNumber: entry.serialNumber, revokedAt: $0.date,
            // RFC 5280 section 5.3.1: a reason that says nothing should be absent.
            reason: $0.reason == .unspecified ? nil : $0.reason)
        }
      }
      let number = try issuer.takeListNumber()
      let end = start + Int64(days) * 86_400
      var template = RevocationListTemplate(thisUpdate: start, nextUpdate: end)
      template.entries = revoked
      template.extensions = [.authorityKeyIdentifier(of: issuer.certificate), .crlNumber(number)].compactMap(
        \.self)
      do throws(CryptoError) {
        return IssuedRevocationList(
          der: try template.sign(issuer: issuer.certificate, key: identity.privateKey), issuer: issuer.name,
          number: number, thisUpdate: Timestamp(secondsSince1970: start),
          nextUpdate: Timestamp(secondsSince1970: end), count: revoked.count)
      } catch {
        throw SigningError(error)
      }
    }
  }
}

// MARK: - Parts

extension AuthorityDirectory {
  /// The certificate of the root.
  package func root() throws(SigningError) -> Certificate { try issuer(named: Self.rootName).certificate }

  /// Returns a warning for each private key that others than its owner may read.
  package func warnings() -> [IdentityDirectory.Warning] {
    ((try? issuers()) ?? []).compactMap { IdentityDirectory($0.path).warning() }
  }

  /// The root, and the intermediates in their order.
  func issuers() throws(SigningError) -> [IssuerDirectory] {
    var found = [try issuer(named: Self.rootName)]
    for number in try intermediateNumbers() { found.append(try issuer(named: Self.intermediateName(number))) }
    return found
  }

  func issuer(named name: String) throws(SigningError) -> IssuerDirectory {
    let names = [Self.rootName] + (try intermediateNumbers()).map(Self.intermediateName)
    guard names.contains(name) else {
      throw SigningError(
        .invalidValue, at: name,
        "There is no such issuer in \(path): it has \(names.joined(separator: ", ")).")
    }
    return try IssuerDirectory(name, in: path)
  }

  /// The issuer with a name; without one, the newest intermediate.
  private func issuer(named name: String?) throws(SigningError) -> IssuerDirectory {
    if let name { try issuer(named: name) } else { try newestIntermediate() }
  }

  private func newestIntermediate() throws(SigningError) -> IssuerDirectory {
    guard let number = try intermediateNumbers().last else {
      throw SigningError(
        .malformedAuthority, at: path,
        "There is no intermediate in it; was it made by `identity create --keep-root`?")
    }
    return try IssuerDirectory(Self.intermediateName(number), in: path)
  }

  private func intermediateNumbers() throws(SigningError) -> [Int] {
    let names: [String]
    do throws(SystemError) {
      names = try FileSystem.names(in: path)
    } catch {
      throw SigningError(.unreadableFile, at: path, "The directory cannot be read: \(error.reason).")
    }
    let prefix = "intermediate-"
    return names.compactMap { name in
      guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)),
        name == Self.intermediateName(number)
      else { return nil }
      return number
    }.sorted()
  }

  private func settings() throws(SigningError) -> AuthoritySettings {
    let file = "\(path)/\(Self.settingsName)"
    let contents = try FileStore.read(file)
    do throws(MalformedReceipt) {
      let settings = try AuthoritySettings(
        json: contents, part: "settings", limits: .standard, isStrict: true)
      guard settings.version == AuthoritySettings.currentVersion else {
        throw MalformedReceipt(
          .unsupported, at: .whole,
          "The authority is of version \(settings.version), and this program reads "
            + "\(AuthoritySettings.currentVersion).")
      }
      return settings
    } catch {
      throw SigningError(.malformedAuthority, at: file, error.message)
    }
  }

  /// Requires a passphrase that is worth the encryption. The PIN of a token may be short.
  private static func requireStrength(
    of passphrase: [UInt8], for keys: [PrivateKey]
  ) throws(SigningError) {
    guard passphrase.count >= 8 || keys.allSatisfy({ $0.tokenURI != nil }) else {
      throw SigningError(
        .invalidValue, at: "passphrase",
        "The passphrase of an authority has at least 8 bytes; a long random one is best.")
    }
  }

  /// Issues a certificate, which is in the index and on disk when this method returns.
  private func issue(
    _ template: CertificateTemplate, for key: PublicKey, by issuer: IssuerDirectory, at now: Timestamp,
    passphrase: [UInt8]?
  ) throws(SigningError) -> [Certificate] {
    try requireUsable(issuer, at: now)
    let index = try issuer.index()
    var template = template
    while index[template.serialNumber] != nil {
      template.serialNumber = CertificateTemplate.randomSerialNumber()
    }
    // A certificate must not outlive its issuer, because its chain is then no longer valid.
    template.notAfter = min(template.notAfter, issuer.certificate.notAfter)
    let identity = try issuer.identity(passphrase: passphrase)
    let certificate = try CertificateAuthority.issue(
      template, for: key, by: .authority(issuer.certificate, identity.privateKey))
    try issuer.add(certificate, to: index)
    return [certificate] + issuer.chain
  }

  private func requireUsable(_ issuer: IssuerDirectory, at now: Timestamp) throws(SigningError) {
    let seconds = now.wholeSecondsSince1970 ?? .max
    for certificate in issuer.chain where seconds > certificate.notAfter {
      throw SigningError(
        .unusableIssuer, at: issuer.path,
        "\"\(certificate.subject)\" expired at \(Timestamp(secondsSince1970: certificate.notAfter).iso8601Seconds)."
          + " \(Self.remedy)")
    }
    guard issuer.name != Self.rootName else { return }
    let root = try self.issuer(named: Self.rootName)
    guard issuer.chain.last == root.certificate else {
      throw SigningError(
        .malformedAuthority, at: issuer.path, "The intermediate is not one of the root in \(root.path).")
    }
    if try root.index()[issuer.certificate.serialNumber]?.revocation != nil {
      throw SigningError(
        .unusableIssuer, at: issuer.path, "\"\(issuer.certificate.subject)\" is revoked. \(Self.remedy)")
    }
  }

  private static let remedy = "Issue another intermediate: receipt-tool identity intermediate"

  private func revoke(
    _ entry: CertificateIndex.Entry, reason: CRLReason, date: Timestamp?, at now: Timestamp,
    by issuer: IssuerDirectory?
  ) throws(SigningError) -> IssuedCertificate {
    guard let issuer else {
      throw SigningError(
        .unknownCertificate, at: entry.subject, "No issuer of \(path) has signed this certificate.")
    }
    // A hold is released in a delta list, and privileges are those of attribute certificates.
    let usable: [CRLReason] = [
      .unspecified, .keyCompromise, .cACompromise, .affiliationChanged, .superseded, .cessationOfOperation,
      .privilegeWithdrawn,
    ]
    guard usable.contains(reason) else {
      throw SigningError(
        .invalidValue, at: "reason",
        "\(reason) cannot be the reason; take one of \(usable.map(\.description).joined(separator: ", ")).")
    }
    // A list states whole seconds. The next one, so that what was signed earlier in this second was signed before.
    let current = now.wholeSecondsSince1970.map {
      now.millisecondsSince1970 > Double($0) * 1000 ? $0 + 1 : $0
    }
    guard let seconds = date.map(\.wholeSecondsSince1970) ?? current, seconds <= current ?? .min
    else {
      throw SigningError(.invalidValue, at: "date", "The date of a revocation is not after the current time.")
    }
    return try locked { () throws(SigningError) in
      var index = try issuer.index()
      var entry = index[entry.serialNumber] ?? entry
      if let (old, oldReason) = entry.revocation {
        guard oldReason?.isBenign == true, !reason.isBenign else {
          throw SigningError(
            .alreadyRevoked, at: Hexadecimal.encode(entry.serialNumber),
            "The certificate was revoked at \(Timestamp(secondsSince1970: old).iso8601Seconds) "
              + "(\(oldReason ?? .unspecified)).")
        }
        entry.revocation = (min(old, seconds), reason)
      } else {
        entry.revocation = (seconds, reason)
      }
      index[entry.serialNumber] = entry
      try issuer.write(index)
      return IssuedCertificate(entry, issuer: issuer.name)
    }
  }

  /// Calls `body` while no other process changes the directory.
  private func locked<Result>(
    _ body: () throws(SigningError) -> Result
  ) throws(SigningError) -> Result {
    guard try FileStore.status(path) != nil else {
      throw SigningError(.unreadableFile, at: path, "There is no such directory.")
    }
    let lock = try lock()
    // The lock ends when the file is closed, which this use of it delays until the body has ended.
    defer { _ = lock.status }
    return try body()
  }

  private func lock() throws(SigningError) -> File {
    let file = "\(path)/\(Self.lockName)"
    do throws(SystemError) {
      let lock = try File(file, .updating, permissions: 0o600)
      if try lock.lock(within: .seconds(30)) { return lock }
    } catch {
      throw SigningError(.unwritableFile, at: file, "The authority cannot be locked: \(error.reason).")
    }
    throw SigningError(
      .authorityBusy, at: file, "Another process has been working with the authority for 30 seconds.")
  }
}

extension AuthoritySettings {
  static let currentVersion: Int64 = 1

  init(_ options: CertificateAuthority.Options) {
    self.init(
      algorithm: options.algorithm.rawValue, organization: options.organization, country: options.country,
      validFrom: options.validFrom, leafMarker: options.leafMarker,
      intermediateMarker: options.intermediateMarker,
      ocspURL: options.ocspURL, crlURL: options.crlURL)
  }

  func kind() throws(SigningError) -> CertificateAuthority.Algorithm {
    guard let kind = CertificateAuthority.Algorithm(rawValue: algorithm) else {
      throw SigningError(.malformedAuthority, at: "$.algorithm", "\"\(algorithm)\" is not a kind of key.")
    }
    return kind
  }

  func options(start: Timestamp) throws(SigningError) -> CertificateAuthority.Options {
    var options = CertificateAuthority.Options(
      organization: organization, country: country, algorithm: try kind(), start: start)
    options.validFrom = validFrom
    options.leafMarker = leafMarker
    options.intermediateMarker = intermediateMarker
    options.ocspURL = ocspURL
    options.crlURL = crlURL
    return options
  }
}

extension IssuedCertificate {
  init(_ entry: CertificateIndex.Entry, issuer: String) {
    let octets = entry.serialNumber
    self.init(
      issuer: issuer,
      serialNumber: Hexadecimal.encode(octets.count > 1 && octets[0] == 0 ? octets[1...] : octets[...]),
      subject: entry.subject, notAfter: Timestamp(secondsSince1970: entry.notAfter),
      revokedAt: entry.revocation.map { Timestamp(secondsSince1970: $0.date) },
      reason: entry.revocation?.reason)
  }
}
