// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import AppStoreServer
import RemoteChecks
import ReceiptHTTPCurl

extension ServerOptions {
  func validate() throws {
    guard deadline ?? 30 > 0, deadline ?? 30 <= 3600 else {
      throw ValidationError("--deadline takes seconds, more than 0 and at most 3600.")
    }
  }

  /// Creates a transport, which the caller must shut down.
  func transport() -> CurlTransport {
    CommandInputs.add(paths: [certificateAuthorities].compactMap(\.self))
    return CurlTransport(certificateAuthorities: certificateAuthorities)
  }

  var retry: RetryPolicy {
    let deadline = Duration.milliseconds(Int64((deadline ?? 30) * 1000))
    return RetryPolicy(deadline: deadline, attemptTimeout: min(.seconds(10), deadline))
  }

  func url(_ text: String) throws -> RemoteURL {
    do throws(RemoteURL.Failure) {
      return try RemoteURL(text, allowsPlainHTTP: allowsPlainHTTP)
    } catch {
      throw ToolExit.failure(.usage, "\(GivenValue.described(text)): \(error.description)")
    }
  }

  func address(_ environment: ReceiptEnvironment.Category) throws -> AppStoreServerAddress {
    if let override = try overridden(environment) { return AppStoreServerAddress(environment, at: override) }
    return environment == .production ? .production : .sandbox
  }

  func verifyReceiptEndpoints() throws -> VerifyReceiptChecker.Endpoints {
    var endpoints = try VerifyReceiptChecker.Endpoints.appStore()
    let path = ["verifyReceipt"]
    endpoints.production =
      try overridden(.production)?.appending(pathSegments: path) ?? endpoints.production
    endpoints.sandbox = try overridden(.sandbox)?.appending(pathSegments: path) ?? endpoints.sandbox
    return endpoints
  }

  /// The server that replaces the OCSP responders named in certificates.
  func responder() throws -> RemoteURL? { try base.map { try url($0).appending(pathSegments: ["ocsp"]) } }

  private func overridden(_ environment: ReceiptEnvironment.Category) throws -> RemoteURL? {
    let text = environment == .sandbox ? sandboxBase ?? base : base
    return try text.map { try url($0) }
  }
}
