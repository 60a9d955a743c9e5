// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptVerification

extension IdentityIssueCommand: OutputOptions {
  func validate() throws {
    guard days > 0 else { throw ValidationError("--days takes a positive number.") }
    guard [key, request, publicKey].count(where: { $0 != nil }) < 2 else {
      throw ValidationError("Give one of --key, --request and --public-key.")
    }
    guard let algorithm else { return }
    guard algorithm.certified != nil else { throw ValidationError("--algorithm takes es256 or rsa2048.") }
    try refuse(
      ["--algorithm": true], unless: key == nil && request == nil && publicKey == nil,
      "is of a key that is made")
  }

  func run() throws {
    CommandInputs.add(authority: authority)
    let passphrase = try passphraseOptions.passphrase()
    for name in IdentityDirectory.fileNames { try CommandInputs.refuse(asOutput: "\(directory)/\(name)") }
    let target = IdentityDirectory(directory)
    // Before a certificate is in the index that nobody would get.
    if !overwrites {
      let keepsKey = request != nil || publicKey != nil
      try target.requireAbsent(
        keepsKey
          ? [IdentityDirectory.chainFileName, IdentityDirectory.rootFileName] : IdentityDirectory.fileNames)
    }
    var options = SignerOptions(commonName: commonName, days: days, algorithm: algorithm?.certified)
    let now = SystemClock.now()
    if let validFrom { options.validFrom = try validFromInstant(validFrom) ?? now }
    let kept = AuthorityDirectory(authority)
    let chain: [Certificate]
    if let certified = try certifiedKey() {
      chain = try kept.issueCertificate(
        for: certified, options, at: now, passphrase: authorityPassphrase.passphraseOrAnswer())
      try target.write(chain: chain, overwriting: overwrites)
    } else {
      let key = try key.map { try SigningKey.load($0, passphrase: passphrase) }
      let identity = try kept.issueSigner(
        key: key, options, at: now, passphrase: authorityPassphrase.passphraseOrAnswer())
      try target.write(identity, passphrase: passphrase, overwriting: overwrites)
      chain = identity.chain
    }
    try write(directory, authority: authority, chain: chain)
  }

  /// The key of `--request` or `--public-key`.
  private func certifiedKey() throws -> PublicKey? {
    guard let file = request ?? publicKey else { return nil }
    let contents = try InputFile.contents(of: file)
    do throws(CryptoError) {
      return try request == nil
        ? PublicKey(inFile: contents) : CertificationRequest(inFile: contents).publicKey
    } catch {
      throw ToolExit.failure(for: SigningError(error), GivenValue.described(file))
    }
  }
}

extension IdentityIntermediateCommand: OutputOptions {
  func validate() throws {
    guard days > 0 else { throw ValidationError("--days takes a positive number.") }
  }

  func run() throws {
    CommandInputs.add(authority: authority)
    let passphrase = try authorityPassphrase.passphraseOrAnswer() ?? []
    let key = try key.map { try SigningKey.load($0, passphrase: passphrase) }
    let chain = try AuthorityDirectory(authority).issueIntermediate(
      key: key, days: days, at: SystemClock.now(), passphrase: passphrase)
    try write(authority, authority: authority, chain: chain, parts: ["intermediate", "root"])
  }
}

extension IdentityResponderCommand: OutputOptions {
  func validate() throws {
    guard days > 0 else { throw ValidationError("--days takes a positive number.") }
  }

  func run() throws {
    CommandInputs.add(authority: authority)
    let passphrase = try passphraseOptions.passphrase()
    for name in IdentityDirectory.fileNames { try CommandInputs.refuse(asOutput: "\(directory)/\(name)") }
    if !overwrites { try IdentityDirectory(directory).requireAbsent() }
    let identity = try AuthorityDirectory(authority).issueResponder(
      of: issuer, days: days, at: SystemClock.now(), passphrase: authorityPassphrase.passphraseOrAnswer())
    try IdentityDirectory(directory).write(identity, passphrase: passphrase, overwriting: overwrites)
    let parts = identity.chain.count > 2 ? ["responder", "intermediate", "root"] : ["responder", "root"]
    try write(directory, authority: authority, chain: identity.chain, parts: parts)
  }
}

extension IdentityListCommand: OutputOptions {
  func run() throws {
    for certificate in try AuthorityDirectory(authority).certificates() { try write(certificate) }
  }
}

extension IdentityRevokeCommand: OutputOptions {
  func run() throws {
    guard let reason = CRLReason(name: reason) else {
      throw ValidationError("--reason takes a name such as superseded or keyCompromise, not \"\(reason)\".")
    }
    let date = try date.map { try parseInstant($0, "--date") }
    let kept = AuthorityDirectory(authority)
    let isSerialNumber = certificate.allSatisfy { $0 == ":" || $0.isHexDigit } && !NewFile.exists(certificate)
    let now = SystemClock.now()
    let revoked =
      if isSerialNumber {
        try kept.revoke(serialNumber: certificate, reason: reason, date: date, at: now)
      } else {
        try kept.revoke(TrustOptions.certificates(in: certificate)[0], reason: reason, date: date, at: now)
      }
    try write(revoked)
    if !json {
      note("receipt-tool: sign a new list: receipt-tool identity crl \(authority) --issuer \(revoked.issuer)")
    }
  }
}

extension OutputOptions {
  fileprivate func write(_ certificate: IssuedCertificate) throws {
    let end = certificate.notAfter.iso8601Seconds
    let status =
      certificate.revokedAt.map { "revoked \($0.iso8601Seconds) (\(certificate.reason ?? .unspecified))" }
      ?? "\(certificate.notAfter < SystemClock.now() ? "expired" : "valid until") \(end)"
    try write(
      Output.IssuedCertificate(
        issuer: certificate.issuer, serialNumber: certificate.serialNumber, subject: certificate.subject,
        notAfter: certificate.notAfter, revokedDate: certificate.revokedAt,
        reason: certificate.reason?.description),
      ["\(certificate.serialNumber)  \(certificate.issuer)  \(status)", "  \(certificate.subject)"])
  }
}

extension IdentityCrlCommand: OutputOptions {
  func validate() throws {
    guard 1...36_500 ~= days else { throw ValidationError("--days takes a number from 1 to 36500.") }
  }

  func run() throws {
    CommandInputs.add(authority: authority)
    let passphrase = try authorityPassphrase.passphraseOrAnswer()
    // Before the list takes its number.
    try CommandInputs.refuse(asOutput: output)
    let list = try AuthorityDirectory(authority).revocationList(
      of: issuer, days: days, at: SystemClock.now(), passphrase: passphrase)
    try NewFile.write(list.der, to: output, overwriting: true)
    try write(
      Output.RevocationList(
        path: output, issuer: list.issuer, number: list.number, thisUpdate: list.thisUpdate,
        nextUpdate: list.nextUpdate, revoked: Int64(list.count)),
      [
        "list \(list.number) of \(list.issuer)  \(output)",
        "  revoked  \(list.count) certificate\(list.count == 1 ? "" : "s")",
        "  valid    \(list.thisUpdate.iso8601Seconds) to \(list.nextUpdate.iso8601Seconds)",
      ])
  }
}

extension IdentityOcspCommand: OutputOptions {
  func validate() throws {
    guard 1...31_536_000 ~= lifetime else {
      throw ValidationError("--lifetime takes seconds, at most a year.")
    }
    guard !responders.isEmpty else {
      throw ValidationError("Name the signer of the response with --responder DIR.")
    }
    try refuse(["--json": json], unless: output != "-", "cannot go with --output -")
  }

  func run() throws {
    CommandInputs.add(authority: authority)
    let passphrase = try passphraseOptions.passphrase()
    let signers = try responders.map { directory in
      CommandInputs.add(identity: directory)
      return try IdentityDirectory(directory).load(passphrase: passphrase) { note("receipt-tool: \($0)") }
    }
    let request = try InputFile.contents(of: request, limit: OCSPResponder.maximumRequestByteCount)
    let responder = OCSPResponder(AuthorityDirectory(authority), signers: signers, lifetime: lifetime)
    let response = try responder.response(to: request, at: SystemClock.now())
    guard output != "-" else { return try writeAll(response) }
    try NewFile.write(response, to: output, overwriting: true)
    try write(
      Output.OcspResponse(path: output, response: Base64.encodeToString(response)), ["response  \(output)"])
  }
}

extension CommandInputs {
  /// Adds the files of an authority, which no other output may replace, and warns of keys that others may read.
  static func add(authority directory: String) {
    for warning in AuthorityDirectory(directory).warnings() { note("receipt-tool: \(warning)") }
    for name in (try? FileSystem.names(in: directory)) ?? [] {
      let path = "\(directory)/\(name)"
      add(paths: [path] + ((try? FileSystem.names(in: path)) ?? []).map { "\(path)/\($0)" })
    }
  }
}
