// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptHTTP

/// Classifies responses and errors for ``HTTPStore``.
struct StoreAnswerClassifier {
  let now: @Sendable () -> Timestamp

  /// The upper bound on `Retry-After`.
  private static let longestWait: Duration = .seconds(86_400)

  func classify<Answer: JSONObject, Value: Sendable>(
    _ response: RemoteResponse, _ read: (Answer) throws(MalformedReceipt) -> Value
  ) -> RemoteCaller.Outcome<Value> {
    guard response.status == 200 else { return refuse(response) }
    do throws(MalformedReceipt) {
      let limits = ReceiptLimits(
        maximumByteCount: StoreProtocolLimits.maximumResponseByteCount,
        maximumDepth: StoreProtocolLimits.maximumDepth)
      return .done(try read(try Answer(json: response.body, part: "store's answer", limits: limits)))
    } catch {
      return .failed(StoreUnavailable("The store's answer cannot be used: \(error)"))
    }
  }

  private func refuse<Value: Sendable>(_ response: RemoteResponse) -> RemoteCaller.Outcome<Value> {
    let limits = ReceiptLimits(maximumByteCount: 1 << 16, maximumDepth: StoreProtocolLimits.maximumDepth)
    let problem = try? StoreProblem(json: response.body, part: "problem", limits: limits)
    let words = problem.map { ", \(ShownText.line("\($0.code): \($0.message)"))" } ?? ""
    let place = problem?.place.map { " (\(ShownText.line($0)))" } ?? ""
    let instant = response.retryAfter(now: now())
    let refusal = StoreUnavailable(
      "The server gave no answer of its store (HTTP status \(response.status)\(words)\(place)).",
      retryAfter: instant.map(wait))
    guard [408, 425, 429].contains(response.status) || response.status / 100 == 5 else {
      return .failed(refusal)
    }
    return .retry(refusal, notBefore: instant, isProcessed: true)
  }

  private func wait(until instant: Timestamp) -> Duration {
    let milliseconds = instant.millisecondsSince1970 - now().millisecondsSince1970
    let longest = Double(Self.longestWait.components.seconds) * 1000
    return .milliseconds(Int64(min(max(milliseconds.rounded(.up), 0), longest)))
  }

  /// Converts an error of a call.
  static func unavailability(_ error: any Error) -> StoreUnavailable {
    switch error {
    case let unavailable as StoreUnavailable: unavailable
    case RemoteCaller.Failure.transport(let error):
      StoreUnavailable("The store cannot be reached (\(error)).")
    case RemoteCaller.Failure.deadlineExceeded: StoreUnavailable("The store did not answer in time.")
    case RemoteCaller.Failure.redirected(let status, let location, let followed):
      StoreUnavailable(
        "The server redirects (HTTP status \(status)) to \(location.map(ShownText.line) ?? "nowhere")"
          + "\(RemoteCaller.Failure.afterRedirects(followed)). Use the address of the store itself.")
    // The only other error is cancellation.
    default: StoreUnavailable("The task was cancelled.")
    }
  }
}
