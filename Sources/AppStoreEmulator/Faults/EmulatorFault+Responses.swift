// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptHTTP

extension EmulatorFault {
  /// The response that replaces the right one; `nil` if the fault modifies the right one.
  func replacement(for request: EmulatorRequest, now: Timestamp) -> EmulatorResponse? {
    switch self {
    case .status(let status, let form, let seconds):
      return EmulatorResponse.text("Out of order.\n", status: min(max(status, 200), 599))
        .retryingAfter(form, seconds: seconds, now: now)
    case .error(let code, let form, let seconds):
      return EmulatorError(code, "An error for tests.").response
        .retryingAfter(form, seconds: seconds, now: now)
    case .rateLimit(_, let seconds):
      return EmulatorError.rateLimitExceeded.response.retryingAfter(.milliseconds, seconds: seconds, now: now)
    case .redirect(let target): return Self.redirect(target, from: request)
    case .wrongJSON:
      return .json(
        .members(
          ("signedTransactionInfo", .integer(1)), ("signedTransactions", .string("none")),
          ("data", .bool(true)), ("status", .array([]))))
    case .otherEndpoint: return .json(.members(("testNotificationToken", .string("of-another-endpoint"))))
    case .receiptStatus(let status, let isRetryable):
      return .json(
        .members(("status", .integer(Int64(status))), ("is-retryable", isRetryable.map { .bool($0) })))
    default: return nil
    }
  }

  private static func redirect(_ target: RedirectTarget, from request: EmulatorRequest) -> EmulatorResponse {
    let location = target == .otherHost ? "https://other.example.com\(request.target)" : request.target
    return EmulatorResponse(status: 307, headers: [HTTPHeader("Location", location)])
  }
}

extension EmulatorError {
  fileprivate static let rateLimitExceeded = Self(4_290_000, "Rate limit exceeded.")
}

extension EmulatorResponse {
  fileprivate func retryingAfter(
    _ form: EmulatorFault.RetryAfterForm?, seconds: Int, now: Timestamp
  ) -> EmulatorResponse {
    guard let form else { return self }
    let then = now.addingSeconds(Double(seconds))
    var response = self
    let value =
      switch form {
      case .milliseconds: String(then.wholeMilliseconds)
      case .seconds: String(seconds)
      case .date: HTTPDateText.text(then)
      }
    response.headers.append(HTTPHeader("Retry-After", value))
    return response
  }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
enum HTTPDateText {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  static func text(_ instant: Timestamp) -> String {
    let seconds = Int64(instant.wholeMilliseconds / 1000)
    let date = CivilDateTime(secondsSince1970: seconds)
    // 1970-01-01 was a Thursday.
    let day = days[Int((seconds / 86_400 % 7 + 7) % 7)]
    let time = [date.hour, date.minute, date.second].map(twoDigits).joined(separator: ":")
    return "\(day), \(twoDigits(date.day)) \(months[date.month - 1]) \(date.year) \(time) GMT"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
