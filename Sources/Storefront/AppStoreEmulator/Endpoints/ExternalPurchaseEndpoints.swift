// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec

/// The endpoint for reports about external purchase tokens.
enum ExternalPurchaseEndpoints {
  static let routes = [
    Route("PUT", "/externalPurchase/v1/reports", send),
    Route("GET", "/externalPurchase/v1/reports/{}", report),
  ]

  @Sendable static func send(_ call: EndpointCall) throws -> RemoteResponse {
    guard
      let report = try? ExternalPurchaseReport(json: call.request.body, part: "report", limits: .standard),
      report.requestIdentifier.isUUID,
      (report.lineItems != nil) == (report.status == .lineItem), report.lineItems?.isEmpty != true
    else { throw Refusal.generalBadRequest }
    let identifier = report.requestIdentifier.rawValue.lowercased()
    let isNew = call.store.state.withState { state in
      guard state.externalPurchaseReports[identifier] == nil else { return false }
      state.externalPurchaseReports[identifier] = report
      return true
    }
    guard isNew else { throw Refusal.invalidRequestIdentifier }
    return .json(["requestIdentifier": report.requestIdentifier.rawValue])
  }

  @Sendable static func report(_ call: EndpointCall) throws -> RemoteResponse {
    let identifier = call.parameter().lowercased()
    guard let report = call.state.externalPurchaseReports[identifier],
      let json = try? JSONValue(parsing: report.encodedJSON())
    else { throw Refusal.invalidRequestIdentifier }
    return .json(["report": json])
  }
}
