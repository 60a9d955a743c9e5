// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptHTTP
import ReceiptHTTPCurl
import TransparencyLog

extension AuditWitnessOptions {
  func validate() throws {
    try refuse(
      [
        "--witness-timeout": timeout != nil, "--witness-patience": gracePeriod != nil,
        "--ca-file": certificateAuthorities != nil, "--allow-plain-http": allowsPlainHTTP,
      ], unless: policyFile != nil, "needs --witnesses FILE")
    guard timeout ?? 1 > 0, timeout ?? 1 <= 3600 else {
      throw ValidationError("--witness-timeout takes seconds, more than 0 and at most 3600.")
    }
    guard gracePeriod ?? 0 >= 0, gracePeriod ?? 0 <= 3600 else {
      throw ValidationError("--witness-patience takes seconds, at most 3600.")
    }
  }

  func logOptions() throws -> AuditLog.Options {
    var options = AuditLog.Options()
    guard let policyFile else { return options }
    let bytes = try InputFile.contents(of: policyFile, limit: WitnessPolicy.maximumByteCount)
    let policy = try ToolExit.reading(orElse: "\(policyFile) is no policy of witnesses") {
      try WitnessPolicy(parsing: bytes)
    }
    for witness in policy.witnesses {
      guard let url = witness.url.map({ String(decoding: $0, as: UTF8.self) }) else { continue }
      let name = String(decoding: witness.name, as: UTF8.self)
      _ = try ToolExit.reading(orElse: "\(policyFile), witness \(name)") {
        try RemoteURL(url, allowsPlainHTTP: allowsPlainHTTP)
      }
    }
    var witnesses = Witnesses(
      policy: policy,
      transport: RemoteWitnessTransport(
        transport: CurlTransport(certificateAuthorities: certificateAuthorities),
        allowsPlainHTTP: allowsPlainHTTP),
      timeout: .milliseconds(Int64((timeout ?? 10) * 1000)))
    witnesses.gracePeriod = .milliseconds(Int64((gracePeriod ?? 1) * 1000))
    options.witnesses = witnesses
    return options
  }
}

private struct RemoteWitnessTransport: WitnessTransport {
  let transport: CurlTransport
  let allowsPlainHTTP: Bool

  func post(
    _ body: [UInt8], to url: String, timeout: Duration, maximumByteCount: Int
  ) async throws(WitnessTransportError) -> WitnessResponse {
    let address: RemoteURL
    do throws(RemoteURL.Failure) {
      address = try RemoteURL(url, allowsPlainHTTP: allowsPlainHTTP)
    } catch { throw WitnessTransportError(.unusable, error.description) }
    let request = RemoteRequest(
      .post, address, headers: [HTTPHeader("Content-Type", "text/plain; charset=utf-8")], body: body,
      timeout: timeout, maximumResponseByteCount: maximumByteCount)
    do throws(HTTPTransportError) {
      let response = try await transport.send(request)
      return WitnessResponse(
        status: response.status, contentType: response.header("Content-Type"), body: response.body)
    } catch {
      let code: WitnessTransportError.Code =
        switch error.code {
        case .cannotConnect, .insecure, .connectionLost, .invalidResponse, .cancelled: .unreachable
        case .timedOut: .timedOut
        case .tooLarge: .tooLarge
        case .unusable: .unusable
        }
      throw WitnessTransportError(code, error.message)
    }
  }
}
