// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptHTTP
public import ReceiptTesting
internal import Synchronization

/// The OCSP responder of the certificates that the emulator signs with.
///
/// ```swift
/// signing.responder?.update { $0.revoke(chain[0], at: now, reason: .keyCompromise) }
/// ```
public final class EmulatedResponder: Sendable {
  private let initial: TestRevocationResponder
  private let responder: Mutex<TestRevocationResponder>
  private let chain: [Certificate]

  init(_ responder: TestRevocationResponder, chain: [Certificate]) {
    self.initial = responder
    self.responder = Mutex(responder)
    self.chain = chain
  }

  /// Changes the answers.
  public func update(_ change: (inout TestRevocationResponder) -> Void) {
    responder.withLock { change(&$0) }
  }

  /// Executes instructions such as `{"revoke": "leaf"}`: `reset`, `revoke` and `forget` (`leaf` or `intermediate`),
  /// `signer` (`issuer` or `delegate`), `flaw`, `repeatsNonce`, `lifetime`.
  func follow(_ instructions: JSONValue, now: Timestamp) throws(EmulatorControl.Failure) {
    let change = try Self.change(instructions)
    let (revoked, forgotten) = (
      try certificate(instructions["revoke"]), try certificate(instructions["forget"])
    )
    if instructions["reset"]?.flag == true { responder.withLock { $0 = initial } }
    update {
      change(&$0)
      if let revoked { $0.revoke(revoked, at: now.addingSeconds(-60), reason: nil) }
      if let forgotten { $0.forget(forgotten) }
    }
  }

  private static func change(
    _ instructions: JSONValue
  ) throws(EmulatorControl.Failure) -> @Sendable (inout TestRevocationResponder) -> Void {
    var flaw: TestRevocationResponder.Flaw?
    if let name = instructions["flaw"]?.string {
      flaw = TestRevocationResponder.Flaw(rawValue: name)
      guard flaw != nil else { throw EmulatorControl.Failure("There is no flaw \(name).") }
    }
    let setsFlaw = instructions["flaw"] != nil
    let signer = instructions["signer"]?.string
    let repeatsNonce = instructions["repeatsNonce"]?.flag
    let lifetime = instructions["lifetime"]
    return { [flaw] responder in
      if setsFlaw { responder.flaw = flaw }
      if let signer { responder.signer = signer == "delegate" ? .delegate : .issuer }
      if let repeatsNonce { responder.repeatsNonce = repeatsNonce }
      if let lifetime { responder.lifetime = lifetime.int64 }
    }
  }

  private func certificate(_ name: JSONValue?) throws(EmulatorControl.Failure) -> Certificate? {
    switch name?.string {
    case nil: return nil
    case "leaf": return chain.first
    case "intermediate": return chain.dropFirst().first
    case let other:
      throw EmulatorControl.Failure("The certificate is leaf or intermediate, not \(other ?? "").")
    }
  }

  /// The response, with the requested serial number in hexadecimal; `nil` for an unknown certificate.
  func respond(to body: [UInt8], at now: Timestamp) -> (response: [UInt8], serialNumber: String?) {
    guard let request = try? ReceivedOCSPRequest(der: body) else {
      return (OCSPResponseTemplate.refusal(.malformedRequest), nil)
    }
    let asked = zip(chain, chain.dropFirst()).first { request.asks(about: $0, issuer: $1) }?.0
    let response = responder.withLock { responder in
      (try? responder.response(to: body, at: now)) ?? []
    }
    return (response, asked.map { Hexadecimal.encode($0.serialNumber) })
  }
}

/// The OCSP responder (RFC 6960 appendix A), if the certificates point to it.
enum RevocationEndpoints {
  static let routes = [Route("POST", "/ocsp", needsToken: false, answer)]

  @Sendable static func answer(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    guard let responder = call.store.signing.responder else {
      return .text("There is no responder for these certificates.\n", status: 404)
    }
    let (response, serialNumber) = responder.respond(to: call.request.body, at: call.now)
    if let serialNumber { call.store.statistics.countOCSP(serialNumber: serialNumber) }
    return EmulatorResponse(
      status: 200, headers: [HTTPHeader("Content-Type", "application/ocsp-response")], body: response)
  }
}
