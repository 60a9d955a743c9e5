// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

/// The OCSP responder (RFC 6960 appendix A), where the certificates point to it.
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
