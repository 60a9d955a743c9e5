// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptSigning
public import ReceiptTesting

/// The OCSP responder and the revocation lists of the certificates that the emulator signs with.
///
/// ```swift
/// signing.responder?.update { $0.revoke(chain[0], at: now, reason: .keyCompromise) }
/// ```
package final class EmulatedResponder: Sendable {
  /// The error for an authority of the caller's own, which has no responder and no revocation lists.
  package static let absence =
    "An authority of your own has no OCSP responder and no revocation lists: its directory does not contain the "
    + "issuers' keys."

  private let initial: TestRevocationResponder
  private let responder: Shared<TestRevocationResponder>
  private let chain: [Certificate]

  init(_ responder: TestRevocationResponder, chain: [Certificate]) {
    self.initial = responder
    self.responder = Shared(responder)
    self.chain = chain
  }

  /// Changes the answers.
  package func update(_ change: (inout TestRevocationResponder) -> Void) {
    responder.withState { change(&$0) }
  }

  /// Executes instructions such as `{"revoke": "leaf"}`: `reset`, `revoke` and `forget` (`leaf` or `intermediate`),
  /// `signer` (`issuer` or `delegate`), `flaw`, `repeatsNonce`, `lifetime`.
  func follow(_ instructions: JSONValue, now: Timestamp) throws {
    let members = try ResponderInstructions(control: instructions.encoded())
    guard 0...Self.longestLifetime ~= members.lifetime ?? 0 else {
      throw EmulatorControl.Failure("\"lifetime\" is not a whole number of 0 to \(Self.longestLifetime).")
    }
    update {
      if members.reset { $0 = initial }
      // null removes a flaw or a lifetime.
      if instructions["flaw"] != nil { $0.flaw = members.flaw }
      if instructions["lifetime"] != nil { $0.lifetime = members.lifetime }
      if let signer = members.signer { $0.signer = signer == .delegate ? .delegate : .issuer }
      if let repeatsNonce = members.repeatsNonce { $0.repeatsNonce = repeatsNonce }
      if let name = members.revoke { $0.revoke(certificate(name), at: now.addingSeconds(-60), reason: nil) }
      if let name = members.forget { $0.forget(certificate(name)) }
    }
  }

  private static let longestLifetime: Int64 = 31_536_000

  private func certificate(_ name: ChainedCertificate) -> Certificate { chain[name == .leaf ? 0 : 1] }

  /// The response, and the serial numbers of the requested certificates in hexadecimal.
  func respond(to body: [UInt8], at now: Timestamp) -> (response: [UInt8], serialNumbers: [String]) {
    guard let request = try? ReceivedOCSPRequest(der: body) else {
      return (OCSPResponseTemplate.refusal(.malformedRequest), [])
    }
    let asked = zip(chain, chain.dropFirst()).filter { request.asks(about: $0, issuer: $1) }
    let response = try? responder.withState { $0 }.response(to: body, at: now)
    return (response ?? [], asked.map { Hexadecimal.encode($0.0.serialNumber) })
  }

  /// The revocation list of an issuer, by its name in URLs: `intermediate` or `root`.
  func list(of name: String, at now: Timestamp) -> [UInt8]? {
    let issuers = zip(["intermediate", "root"], chain.dropFirst())
    guard let issuer = issuers.first(where: { $0.0 == name })?.1 else { return nil }
    return try? responder.withState { $0 }.list(of: issuer, at: now)
  }
}

/// A flaw in the responder's answers.
typealias ResponderFlaw = TestRevocationResponder.Flaw
extension ResponderFlaw: ControlChoice {}

/// The endpoints for OCSP (RFC 6960 appendix A) and revocation lists (RFC 5280), if the certificates point to them.
enum RevocationEndpoints {
  static let routes = [
    Route("POST", "/ocsp", needsToken: false) { call in
      answer(call, to: call.request.body)
    },
    Route("GET", "/ocsp/{*}", needsToken: false) { call in
      answer(call, to: requestInPath(call.request.target))
    },
    Route("GET", "/crl/{}", needsToken: false, list),
  ]

  private static func answer(_ call: EndpointCall, to body: [UInt8]) -> RemoteResponse {
    guard let responder = call.store.signing.responder else { return absence }
    let (response, serialNumbers) = responder.respond(to: body, at: call.store.clientClock())
    for serialNumber in serialNumbers { call.store.statistics.countOCSP(serialNumber: serialNumber) }
    return response.isEmpty ? .empty(status: 500) : .binary(response, "application/ocsp-response")
  }

  /// The request that follows `/ocsp/` in the path, in base64 that may contain slashes (RFC 6960 appendix A.1).
  private static func requestInPath(_ target: String) -> [UInt8] {
    let path = target.prefix { $0 != "?" }.drop { $0 == "/" }.dropFirst("ocsp/".count)
    return (try? Base64.decode(Array(EmulatorRequest.decode(path, plusIsSpace: false).utf8))) ?? []
  }

  @Sendable private static func list(_ call: EndpointCall) throws -> RemoteResponse {
    guard let responder = call.store.signing.responder else { return absence }
    let name = call.parameter()
    guard name.hasSuffix(".crl"),
      let list = responder.list(of: String(name.dropLast(4)), at: call.store.clientClock())
    else {
      return .text("The lists are intermediate.crl and root.crl.\n", status: 404)
    }
    return .binary(list, "application/pkix-crl")
  }

  private static var absence: RemoteResponse { .text(EmulatedResponder.absence + "\n", status: 404) }
}
