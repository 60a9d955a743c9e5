// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
internal import ReceiptCrypto

/// The access token of a service account, shared by all tasks. It is requested when needed, and again shortly before it
/// expires; at most one request is under way.
final class AccessTokens: Sendable {
  /// The scope of the Google Play Developer API.
  static let scope = "https://www.googleapis.com/auth/androidpublisher"

  let account: ServiceAccount
  private let shared: SharedFetch<Secret, GooglePlayError.Cause>

  init(
    account: ServiceAccount, url: RemoteURL?, transport: any HTTPTransport, retry: RetryPolicy,
    time: RemoteTime
  ) {
    self.account = account
    let caller = RemoteCaller(transport: transport, policy: retry, time: time)
    shared = AccessTokenGrant.shared(
      from: url ?? account.tokenURL, caller, cancelled: .cancelled, failure: { GooglePlayError.Cause($0) }
    ) { now in
      AccessTokenGrant(form: [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("assertion", try account.assertion(scope: Self.scope, issuedAt: now)),
      ])
    }
  }

  func token() async throws(GooglePlayError.Cause) -> Secret { try await shared.held().value }

  /// Drops a token that was refused, unless it was already replaced; the refusal may arrive late.
  func forget(_ token: Secret) { shared.forget { $0 == token } }
}

/// A request for an access token (RFC 6749 section 4.4, RFC 7523 section 2.1).
package struct AccessTokenGrant: Sendable {
  /// The time, in seconds, before its expiry from which a token is no longer used, because a call takes time.
  private static let reserve: Double = 60
  private static let maximumResponseByteCount = 1 << 16
  /// The longest lifetime, in seconds; no store's token lives longer than an hour.
  private static let greatestLifetime: Int64 = 3600

  private let body: [UInt8]

  package init(form: [(name: String, value: String)]) {
    let pairs = form.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
    body = Array(pairs.joined(separator: "&").utf8)
  }

  /// Returns a token that all tasks share. It is requested when needed, and again shortly before it expires.
  package static func shared<Failure: Error & Sendable>(
    from url: RemoteURL, _ caller: RemoteCaller, cancelled: Failure,
    failure: @escaping @Sendable (any Error) -> Failure,
    grant: @escaping @Sendable (_ now: Timestamp) throws -> AccessTokenGrant
  ) -> SharedFetch<Secret, Failure> {
    SharedFetch(time: caller.time, cancelled: cancelled) {
      do {
        let now = caller.time.now()
        let (token, lifetime) = try await grant(now).token(from: url, caller)
        return .success(.init(token, obtainedAt: now, usableUntil: now.addingSeconds(lifetime - reserve)))
      } catch {
        return .failure(failure(error))
      }
    }
  }

  /// Requests a token.
  ///
  /// - Throws: ``AccessTokenRefusal``, or an error of `RemoteCaller`.
  private func token(
    from url: RemoteURL, _ caller: RemoteCaller
  ) async throws -> (token: Secret, lifetime: Double) {
    let request = RemoteRequest(
      .post, url,
      headers: [
        HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
        HTTPHeader("Accept", "application/json"), UserAgent.header,
      ], body: body, maximumResponseByteCount: Self.maximumResponseByteCount)
    return try await caller.send(isIdempotent: true, { request }) { response in
      Self.classify(response, now: caller.time.now())
    }
  }

  private static func classify(
    _ response: RemoteResponse, now: Timestamp
  ) -> RemoteCaller.Outcome<(token: Secret, lifetime: Double)> {
    let answer = try? AccessTokenResponse(json: response.body, part: "token response", limits: .standard)
    if response.status == 200, let token = answer?.accessToken, isToken(token),
      answer?.tokenType?.lowercased() == "bearer"
    {
      return .done((Secret(token), Double(min(max(answer?.expiresIn ?? 0, 0), greatestLifetime))))
    }
    let refusal = AccessTokenRefusal(
      httpStatus: response.status, error: answer?.error.map(ShownText.line),
      message: answer?.errorDescription.map(ShownText.line))
    return .refused(response, refusal, now: now)
  }

  /// Returns `true` if the text is allowed in a header (RFC 6750 section 2.1).
  private static func isToken(_ text: String) -> Bool {
    1...8192 ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}

extension AccessTokenRefusal {
  /// `true` if a token may be issued later.
  package var isRetryable: Bool { RemoteResponse.isTemporaryFailure(status: httpStatus) }
}
