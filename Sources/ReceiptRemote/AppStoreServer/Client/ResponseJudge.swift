// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Says what a response of the App Store means.
struct ResponseJudge {
  let now: @Sendable () -> Timestamp

  /// A response that is no success.
  struct Refusal: Error {
    let cause: AppStoreServerError.Cause
  }

  func judge<Value: Sendable>(
    _ response: RemoteResponse, decode: ([UInt8]) throws(MalformedReceipt) -> Value
  ) -> RemoteCaller.Judgement<Value> {
    guard response.status / 100 == 2 else { return refuse(response) }
    do throws(MalformedReceipt) {
      return .done(try decode(response.body))
    } catch {
      return .failed(Refusal(cause: .malformedResponse(error)))
    }
  }

  private func refuse<Value: Sendable>(_ response: RemoteResponse) -> RemoteCaller.Judgement<Value> {
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
      // The App Store invites to ask again: it has done nothing.
      if code.isRetryable { return .retry(Refusal(cause: cause), notBefore: retryAfter, isProcessed: false) }
      // It names a failure of its own that does not pass.
      if code.meaning != nil { return .failed(Refusal(cause: cause)) }
    case (let status, nil): cause = .unexpectedStatus(status)
    }
    guard response.status == 408 || response.status / 100 == 5 else { return .failed(Refusal(cause: cause)) }
    return .retry(Refusal(cause: cause), notBefore: retryAfter, isProcessed: true)
  }

  /// The reason in a body of JSON; `nil` for an error page, or JSON of another shape.
  private func errorBody(of response: RemoteResponse) -> AppStoreServerErrorBody? {
    if let contentType = response.header("Content-Type"), !Self.isJSON(contentType) { return nil }
    return try? AppStoreServerErrorBody(json: response.body, part: "error", limits: .standard)
  }

  /// Whether a media type is JSON's, whatever its parameters (RFC 8259 section 11, RFC 6839 section 3.1).
  static func isJSON(_ contentType: String) -> Bool {
    let type = contentType.prefix { $0 != ";" }.lowercased().trimmingASCIISpace
    return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
  }
}
