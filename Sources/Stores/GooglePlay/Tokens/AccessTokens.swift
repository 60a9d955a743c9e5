// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// The access token of a service account, shared by all tasks. It is requested when needed, and again shortly before it
/// expires; at most one request is under way.
final class AccessTokens: Sendable {
  /// The scope of the Google Play Developer API.
  static let scope = "https://www.googleapis.com/auth/androidpublisher"
  /// The time, in seconds, before its expiry from which a token is no longer used, because a call takes time.
  static let reserve: Double = 60

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

  /// Drops a token that was refused, unless it was already replaced; the refusal may arrive late.
  func forget(_ token: Secret) { shared.forget { $0 == token } }

  private static func fetch(
    _ account: ServiceAccount, _ url: RemoteURL, _ caller: RemoteCaller
  ) async -> SharedFetch<Secret, GooglePlayError.Cause>.Outcome {
    do {
      let now = caller.time.now()
      let grant = AccessTokenGrant(form: [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("assertion", try account.assertion(scope: scope, issuedAt: now)),
      ])
      let (token, lifetime) = try await grant.token(from: url, caller)
      return .success(.init(token, obtainedAt: now, usableUntil: now.addingSeconds(lifetime - reserve)))
    } catch let refusal as AccessTokenRefusal {
      return .failure(
        .tokenRefused(httpStatus: refusal.httpStatus, error: refusal.error, message: refusal.message))
    } catch {
      return .failure(GooglePlayError.Cause(error))
    }
  }
}
