// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec

extension EmulatorFault {
  /// The response that replaces the correct one; `nil` if the fault modifies the correct response.
  func replacement(for request: EmulatorRequest, now: Timestamp) -> RemoteResponse? {
    switch self {
    case .status(let status, let form, let seconds):
      return RemoteResponse.text("Out of order.\n", status: min(max(status, 200), 599))
        .retryingAfter(form, seconds: seconds, now: now)
    case .error(let code, let form, let seconds):
      return RemoteResponse.refusal(Refusal(rawValue: code)).retryingAfter(form, seconds: seconds, now: now)
    case .rateLimit(_, let seconds):
      return RemoteResponse.refusal(.rateLimitExceeded)
        .retryingAfter(.milliseconds, seconds: seconds, now: now)
    case .redirect(let target): return Self.redirect(target, from: request)
    case .wrongJSON:
      return .json([
        "signedTransactionInfo": 1, "signedTransactions": "none", "data": true, "status": [JSONValue](),
      ])
    case .otherEndpoint: return .json(["testNotificationToken": "of-another-endpoint"])
    case .receiptStatus(let status, let isRetryable):
      return .json(["status": status, "is-retryable": isRetryable])
    default: return nil
    }
  }

  private static func redirect(_ target: RedirectTarget, from request: EmulatorRequest) -> RemoteResponse {
    let location = target == .otherHost ? "https://other.example.com\(request.target)" : request.target
    return RemoteResponse(status: 307, headers: [HTTPHeader("Location", location)])
  }
}

extension RemoteResponse {
  fileprivate func retryingAfter(
    _ form: EmulatorFault.RetryAfterForm?, seconds: Int, now: Timestamp
  ) -> RemoteResponse {
    guard let form else { return self }
    let then = now.addingSeconds(Double(seconds))
    var response = self
    let value =
      switch form {
      case .milliseconds: String(then.wholeMilliseconds)
      case .seconds: String(seconds)
      case .date: HTTPDate.text(then)
      }
    response.headers.append(HTTPHeader("Retry-After", value))
    return response
  }
}
