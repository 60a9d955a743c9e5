// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The access token of a service account, shared by all tasks: it is requested when it is needed and again shortly
/// before it expires, by one request at a time.
final class AccessTokens: Sendable {
  /// The scope of the Google Play Developer API.
  static let scope = "https://www.googleapis.com/auth/androidpublisher"
  /// Seconds before its expiry at which a token is no longer used: a call takes its time.
  static let reserve: Double = 60
  private static let maximumResponseByteCount = 1 << 16
  /// No token of Google's lives longer than an hour.
  private static let greatestLifetime: Int64 = 3600

  let account: ServiceAccount
  private let shared: SharedFetch<Secret, GooglePlayError.Cause>

  init(
    account: ServiceAccount, url: RemoteURL?, transport: any HTTPTransport, retry: RetryPolicy,
    time: RemoteTime
  ) {
    self.account = account
    let caller = RemoteCaller(transport: transport, policy: retry, time: time)
    let url = url ?? account.tokenURL
    shared = SharedFetch(time: time, cancelled: .cancelled) {
      await Self.fetch(account, url, caller)
    }
  }

  func token() async throws(GooglePlayError.Cause) -> Secret { try await shared.held().value }

  /// Drops a token that was refused, unless it was replaced already: the refusal may be late.
  func forget(_ token: Secret) { shared.forget { $0 == token } }

  private static func fetch(
    _ account: ServiceAccount, _ url: RemoteURL, _ caller: RemoteCaller
  ) async -> SharedFetch<Secret, GooglePlayError.Cause>.Outcome {
    do {
      let now = caller.time.now()
      let body =
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        + (try account.assertion(scope: scope, issuedAt: now))
      let request = RemoteRequest(
        .post, url,
        headers: [
          HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
          HTTPHeader("Accept", "application/json"), UserAgent.header,
        ], body: Array(body.utf8), maximumResponseByteCount: maximumResponseByteCount)
      let (token, lifetime) = try await caller.send(isIdempotent: true, { request }) { response in
        classify(response, now: caller.time.now())
      }
      return .success(
        .init(token, obtainedAt: now, usableUntil: now.addingSeconds(Double(lifetime) - reserve)))
    } catch {
      return .failure(GooglePlayError.Cause(error))
    }
  }

  private static func classify(
    _ response: RemoteResponse, now: Timestamp
  ) -> RemoteCaller.Outcome<(Secret, lifetime: Int64)> {
    let answer = try? AccessTokenResponse(json: response.body, part: "token response", limits: .standard)
    if response.status == 200, let token = answer?.accessToken, isToken(token),
      answer?.tokenType?.lowercased() == "bearer"
    {
      return .done((Secret(token), min(max(answer?.expiresIn ?? 0, 0), greatestLifetime)))
    }
    let cause = GooglePlayError.Cause.tokenRefused(
      httpStatus: response.status, error: answer?.error.map(ShownText.line),
      message: answer?.errorDescription.map(ShownText.line))
    guard response.status == 429 || response.status == 408 || response.status / 100 == 5 else {
      return .failed(cause)
    }
    return .retry(cause, notBefore: response.retryAfter(now: now), isProcessed: false)
  }

  /// Whether it may stand in a header (RFC 6750 section 2.1).
  private static func isToken(_ text: String) -> Bool {
    1...8192 ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}
