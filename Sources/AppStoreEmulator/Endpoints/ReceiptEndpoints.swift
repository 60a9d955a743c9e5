// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// `verifyReceipt`, which asks for no token.
enum ReceiptEndpoints {
  static let routes = [Route("POST", "/verifyReceipt", needsToken: false, verifyReceipt)]

  @Sendable static func verifyReceipt(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let verification = ReceiptVerification(call)
    return .json(verification.answer())
  }
}
