// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Classifies a response of the App Store: a value, a terminal error, or an error after which the request may be sent
/// again.
struct ResponseClassifier {
  let now: @Sendable () -> Timestamp

  /// A response without a success status, or with an unreadable body.
  struct Refusal: Error {
    let cause: AppStoreServerError.Cause
  }

  func classify<Value: Sendable>(
    _ response: RemoteResponse, decode: ([UInt8]) throws(MalformedReceipt) -> Value
  ) -> RemoteCaller.Outcome<Value> {
    guard response.status / 100 == 2 else { return refuse(response) }
    do throws(MalformedReceipt) {
      return .done(try decode(response.body))
    } catch {
      return .failed(Refusal(cause: .malformedResponse(error)))
    }
  }

  private func refuse<Value: Sendable>(_ response: RemoteResponse) -> RemoteCaller.Outcome<Value> {
    let body = errorBody(of: response)
    let message = body?.errorMessage.map(ShownText.line)
    let retryAfter = response.retryAfter(now: now())
    let cause: AppStoreServerError.Cause
    switch (response.status, body?.errorCode) {
    case (401, _): return .failed(Refusal(cause: .unauthorized(message: message)))
    case (429, _):
      return .retry(
        Refusal(cause: .rateLimited(retryAfter: retryAfter)), notBefore: retryAfter, isProcessed: false)
    case (_, .some(let code)):
      cause = .response(code, message: message ?? code.meaning ?? "")
      // Apple documents that the request had no effect and may be repeated.
      if code.isRetryable { return .retry(Refusal(cause: cause), notBefore: retryAfter, isProcessed: false) }
      // A documented error that is permanent.
      if code.meaning != nil { return .failed(Refusal(cause: cause)) }
    case (let status, nil): cause = .unexpectedStatus(status)
    }
    guard response.isTemporaryFailure else { return .failed(Refusal(cause: cause)) }
    return .retry(Refusal(cause: cause), notBefore: retryAfter, isProcessed: true)
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
