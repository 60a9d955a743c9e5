// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
package import ReceiptSigning

extension AppStoreServerAddress {
  /// `https://api.storekit.apple.com`.
  public static let production = AppStoreServerAddress(
    .production, at: RemoteURL(secureHost: "api.storekit.apple.com"))
  /// `https://api.storekit-sandbox.apple.com`.
  public static let sandbox = AppStoreServerAddress(
    .sandbox, at: RemoteURL(secureHost: "api.storekit-sandbox.apple.com"))
}

/// Calls the App Store Server API and returns the responses without verifying their signed parts.
/// ``AppStoreServerClient`` verifies them. Any number of tasks may use one client at once; copies share their token.
/// The caller shuts down the transport.
package struct RawAppStoreServerClient: Sendable {
  package private(set) var address: AppStoreServerAddress
  package let retry: RetryPolicy
  package let time: RemoteTime
  let tokens: AppStoreServerTokens
  private let transport: any HTTPTransport

  package init(
    transport: any HTTPTransport, signer: DeveloperSigner, address: AppStoreServerAddress = .production,
    retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.address = address
    self.retry = retry
    self.time = time
    self.transport = transport
    tokens = AppStoreServerTokens(signer: signer, time: time)
  }

  package var bundleId: String { tokens.signer.bundleId }

  /// Returns this client for another address, with the same tokens.
  package func calling(_ address: AppStoreServerAddress) -> RawAppStoreServerClient {
    var client = self
    client.address = address
    return client
  }

  /// Sends a call, and returns the response and the number of requests sent.
  func answer<Response, Value>(
    _ call: AppStoreServerCall<Response, Value>
  ) async throws(AppStoreServerError) -> (response: Response, attempts: Int) {
    let url: RemoteURL
    do throws(RequestLimits.Violation) {
      url = try call.request.url(of: call.endpoint, at: address.url)
    } catch {
      throw AppStoreServerError(
        call.endpoint, attempts: 0, .invalidRequest(place: error.place, message: error.message))
    }
    let caller = RemoteCaller(transport: transport, policy: retry, time: time)
    var attempts = 0
    var token = Secret("")
    do {
      let response = try await caller.send(isIdempotent: call.endpoint.isIdempotent) {
        token = try await tokens.token()
        attempts += 1
        return call.request.request(
          call.endpoint.method, url, headers: [HTTPHeader("Authorization", "Bearer \(token.text)")])
      } classify: { response in
        if response.status == 401 { tokens.forget(token) }
        return .decoding(
          response, call.decode, malformed: AppStoreServerError.Cause.malformedResponse,
          refuse: { refuse(response) })
      }
      return (response, attempts)
    } catch {
      throw AppStoreServerError(call.endpoint, attempts: attempts, Self.cause(of: error))
    }
  }

  private static func cause(of error: any Error) -> AppStoreServerError.Cause {
    switch error {
    case let cause as AppStoreServerError.Cause: cause
    case RemoteCaller.Failure.transport(let error): .transport(error)
    case RemoteCaller.Failure.redirected(let status, let location, let followed):
      .redirected(status: status, location: location.map(ShownText.line), followed: followed)
    case RemoteCaller.Failure.deadlineExceeded: .deadlineExceeded
    // No other error is thrown except this one and `CancellationError`.
    default: .cancelled
    }
  }
}

extension RawAppStoreServerClient: CustomStringConvertible, CustomReflectable {
  /// The address and the signer's identifiers, without token and key.
  package var description: String { "RawAppStoreServerClient(\(address.url), \(tokens.signer))" }

  /// The address and the signer's identifiers, without token and key.
  package var customMirror: Mirror {
    Mirror(self, children: ["url": address.url.description, "signer": tokens.signer.description])
  }
}

extension RawAppStoreServerClient {
  /// Classifies a response without a success status: a terminal error, or one after which the request may be sent again.
  private func refuse<Value: Sendable>(_ response: RemoteResponse) -> RemoteCaller.Outcome<Value> {
    let body = errorBody(of: response)
    let message = body?.errorMessage.map(ShownText.line)
    let retryAfter = response.retryAfter(now: time.now())
    let cause: AppStoreServerError.Cause
    switch (response.status, body?.errorCode) {
    case (401, _): return .failed(AppStoreServerError.Cause.unauthorized(message: message))
    case (429, _):
      return .retry(
        AppStoreServerError.Cause.rateLimited(retryAfter: retryAfter), notBefore: retryAfter,
        isProcessed: false)
    case (_, .some(let code)):
      cause = .response(code, message: message ?? code.meaning ?? "")
      // Apple documents that the request had no effect and may be repeated.
      if code.isRetryable { return .retry(cause, notBefore: retryAfter, isProcessed: false) }
      // A documented error that is permanent.
      if code.meaning != nil { return .failed(cause) }
    case (let status, nil): cause = .unexpectedStatus(status)
    }
    guard response.isTemporaryFailure else { return .failed(cause) }
    return .retry(cause, notBefore: retryAfter, isProcessed: true)
  }

  /// Returns the error in a JSON body; `nil` for an error page, or JSON of another structure.
  private func errorBody(of response: RemoteResponse) -> AppStoreServerErrorBody? {
    if let contentType = response.header("Content-Type"), !Self.isJSON(contentType) { return nil }
    return try? AppStoreServerErrorBody(json: response.body, part: "error", limits: .standard)
  }

  /// Returns `true` if a media type is JSON's, with any parameters (RFC 8259 section 11, RFC 6839 section 3.1).
  static func isJSON(_ contentType: String) -> Bool {
    let type = contentType.prefix { $0 != ";" }.lowercased().trimmingASCIISpace
    return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
  }
}
