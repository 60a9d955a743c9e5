// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

/// We read the output of `openssl` as it was meant, and `openssl` verifies ours.
@Suite(.enabled(if: OpenSSLCommand.isAvailable, "there is no openssl command"))
struct OpenSSLCommandTests {
  private let fixture: RevocationFixture
  private let command: OpenSSLCommand
  private let now = Int64(Date().timeIntervalSince1970)

  private var chain: TestChain { fixture.chain }

  init() throws {
    let farFuture: Int64 = 4_000_000_000
    fixture = try RevocationFixture(
      chain: TestChain(
        root: { $0.notAfter = farFuture }, intermediate: { $0.notAfter = farFuture },
        leaf: { $0.notAfter = farFuture }))
    command = try OpenSSLCommand()
    let chain = fixture.chain
    let delegate = try fixture.delegate { $0.notAfter = farFuture }
    try command.write(chain.leaf.pem, "leaf.pem")
    try command.write(chain.intermediate.pem, "intermediate.pem")
    try command.write(chain.root.pem + chain.intermediate.pem, "trusted.pem")
    try command.write(chain.intermediateKey.pkcs8PEM(), "intermediate.key")
    try command.write(delegate.pem, "delegate.pem")
    try command.write(fixture.delegateKey.pkcs8PEM(), "delegate.key")
  }

  /// The database of an authority that issued the leaf: a line of six fields.
  private func writeIndex(_ status: String) throws {
    let expiry = "20961002070640Z"
    let serialNumber = chain.leaf.serialNumberHex.uppercased()
    let fields =
      status == "good"
      ? ["V", expiry, "", serialNumber, "unknown", "/CN=Test Leaf"]
      : ["R", expiry, "250615150640Z,\(status)", serialNumber, "unknown", "/CN=Test Leaf"]
    try command.write(fields.joined(separator: "\t") + "\n", "index.txt")
  }

  @Test(arguments: ["good", "keyCompromise", "superseded"], ["intermediate", "delegate"])
  func whatOpenSSLAnswersIsReadAsItWasMeant(status: String, responder: String) throws {
    defer { command.remove() }
    try writeIndex(status)
    let request = try OCSPRequest(certificate: chain.leaf, issuer: chain.intermediate, hash: .sha256)
    try command.write(request.der, "request.der")
    let output = try command.run(
      "ocsp", "-index", "index.txt", "-CA", "intermediate.pem", "-rsigner", "\(responder).pem", "-rkey",
      "\(responder).key", "-rmd", "sha256", "-ndays", "1", "-reqin", "request.der", "-respout",
      "response.der")
    let response = try #require(try? command.read("response.der"), "\(output)")
    let found = try OCSPResponse(der: response).status(
      of: chain.leaf, issuer: chain.intermediate, nonce: request.nonce, requiresNonce: true, at: now)
    switch status {
    case "good": #expect(found.standing == .good)
    case "superseded": #expect(found.standing == .revoked(at: 1_750_000_000, reason: .superseded))
    default: #expect(found.standing == .revoked(at: 1_750_000_000, reason: .keyCompromise))
    }
    #expect(found.nextUpdate == found.thisUpdate + 86_400)
  }

  @Test(arguments: [
    (CertificateStatus.Standing.good, "leaf.pem: good"), (.unknown, "leaf.pem: unknown"),
    (.revoked(at: 1_750_000_000, reason: .superseded), "leaf.pem: revoked"),
  ])
  func whatWeAnswerOpenSSLVerifies(standing: CertificateStatus.Standing, expected: String) throws {
    defer { command.remove() }
    for isDelegated in [false, true] {
      let request = try OCSPRequest(certificate: chain.leaf, issuer: chain.intermediate)
      var answer = fixture.answer(standing)
      answer.thisUpdate = now
      answer.nextUpdate = now + 3600
      var template = isDelegated ? fixture.template(by: try fixture.delegate()) : fixture.template()
      template.nonce = request.nonce
      template.answers = [answer]
      try command.write(request.der, "request.der")
      try command.write(template.sign(), "response.der")
      let output = try command.run(
        "ocsp", "-respin", "response.der", "-issuer", "intermediate.pem", "-cert", "leaf.pem", "-no_nonce",
        "-CAfile", "trusted.pem", "-verify_other", "intermediate.pem")
      #expect(output.contains("Response verify OK"), "\(output)")
      #expect(output.contains(expected), "\(output)")
      let withRequest = try command.run(
        "ocsp", "-reqin", "request.der", "-respin", "response.der", "-CAfile", "trusted.pem",
        "-verify_other", "intermediate.pem")
      #expect(withRequest.contains("Response verify OK"), "\(withRequest)")
      #expect(!withRequest.lowercased().contains("nonce"), "\(withRequest)")
    }
  }

  @Test func flawedAnswersFailThereTooWhereOpenSSLLooks() throws {
    defer { command.remove() }
    var template = fixture.template(by: try fixture.delegate { $0.extendedKeyUsages = [] })
    template.answers[0].thisUpdate = now
    template.answers[0].nextUpdate = now + 3600
    try command.write(template.sign(), "response.der")
    let output = try command.run(
      "ocsp", "-respin", "response.der", "-issuer", "intermediate.pem", "-cert", "leaf.pem", "-no_nonce",
      "-CAfile", "trusted.pem", "-verify_other", "intermediate.pem")
    #expect(output.contains("Response Verify Failure"), "\(output)")
  }

  @Test(arguments: ["good", "keyCompromise"])
  func listsAreReadAndVerifiedBothWays(status: String) throws {
    defer { command.remove() }
    try writeIndex(status)
    try command.write(
      """
      [ca]
      default_ca = authority
      [authority]
      database = index.txt
      default_md = sha256
      """, "ca.cnf")
    let made = try command.run(
      "ca", "-gencrl", "-config", "ca.cnf", "-keyfile", "intermediate.key", "-cert", "intermediate.pem",
      "-crldays", "1", "-out", "list.pem")
    try command.run("crl", "-in", "list.pem", "-outform", "DER", "-out", "list.der")
    let theirs = try #require(try? command.read("list.der"), "\(made)")
    let found = try CertificateRevocationList(der: theirs).status(
      of: chain.leaf, issuer: chain.intermediate, at: now)
    #expect(
      found.standing
        == (status == "good" ? .good : .revoked(at: 1_750_000_000, reason: .keyCompromise)))

    var template = RevocationListTemplate(thisUpdate: now, nextUpdate: now + 3600)
    if status != "good" { template.entries = [.init(chain.leaf, revokedAt: now, reason: .keyCompromise)] }
    try command.write(
      template.sign(issuer: chain.intermediate, key: chain.intermediateKey), "ours.der")
    let output = try command.run(
      "crl", "-in", "ours.der", "-inform", "DER", "-CAfile", "trusted.pem", "-noout", "-text")
    #expect(output.contains("verify OK"), "\(output)")
    let isListed = output.contains("Serial Number: \(chain.leaf.serialNumberHex.uppercased())")
    #expect(isListed == (status != "good"), "\(output)")
  }
}
