// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Classifies a response of the Google Play Developer API: a value, a terminal error, or an error after which the
/// request may be sent again.
struct ResponseClassifier {
  let now: @Sendable () -> Timestamp

  func classify<Value: Sendable>(
    _ response: RemoteResponse, decode: ([UInt8]) throws(MalformedReceipt) -> Value
  ) -> RemoteCaller.Outcome<Value> {
    guard response.status / 100 == 2 else { return refuse(response) }
    do throws(MalformedReceipt) {
      return .done(try decode(response.body))
    } catch {
      return .failed(GooglePlayError.Cause.malformedResponse(error))
    }
  }

  private func refuse<Value: Sendable>(_ response: RemoteResponse) -> RemoteCaller.Outcome<Value> {
    let error = try? PlayErrorBody(json: response.body, part: "error", limits: .standard).error
    let reason = error?.errors?.lazy.compactMap(\.reason).first
    let refusal = GooglePlayError.Refusal(
      code: Self.code(response.status, status: error?.status, reason: reason), httpStatus: response.status,
      status: error?.status.map(ShownText.line), reason: reason.map(ShownText.line),
      message: error?.message.map(ShownText.line), retryAfter: response.retryAfter(now: now()))
    switch refusal.code {
    case .quotaExceeded, .conflict:
      return .retry(refusal, notBefore: refusal.retryAfter, isProcessed: false)
    case _ where response.isTemporaryFailure:
      return .retry(refusal, notBefore: refusal.retryAfter, isProcessed: true)
    default: return .failed(refusal)
    }
  }

  private static let quotaReasons = [
    "quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded",
  ]

  private static func code(_ httpStatus: Int, status: String?, reason: String?) -> GooglePlayError.Code {
    switch httpStatus {
    case 400: .invalidRequest
    case 401: .unauthorized
    case 403:
      status == "RESOURCE_EXHAUSTED" || quotaReasons.contains(reason ?? "")
        ? .quotaExceeded : .permissionDenied
    case 404: .notFound
    case 409: .conflict
    case 410: .tokenNoLongerValid
    case 429: .quotaExceeded
    case 500...599: .unavailable
    default: .other
    }
  }
}
