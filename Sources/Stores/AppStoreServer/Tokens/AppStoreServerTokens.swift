// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning

/// The token of the App Store Server API, signed once and used for all calls until shortly before it expires. Clients
/// of both environments share one.
final class AppStoreServerTokens: Sendable {
  /// In seconds.
  static let lifetime = 300
  /// The time, in seconds, before its expiry from which a token is no longer used, because a request takes time.
  static let reserve: Double = 60

  let signer: DeveloperSigner
  private let shared: SharedFetch<Secret, AppStoreServerError.Cause>

  init(signer: DeveloperSigner, time: RemoteTime = .system) {
    self.signer = signer
    shared = SharedFetch(time: time, cancelled: .cancelled) {
      let now = time.now()
      do throws(SigningError) {
        let token = Secret(try signer.serverToken(issuedAt: now, lifetime: Self.lifetime))
        let usableUntil = now.addingSeconds(Double(Self.lifetime) - Self.reserve)
        return .success(.init(token, obtainedAt: now, usableUntil: usableUntil))
      } catch {
        return .failure(.signing(error))
      }
    }
  }

  /// Returns the token to send now.
  func token() async throws(AppStoreServerError.Cause) -> Secret { try await shared.held().value }

  /// Drops a token that the App Store refused, unless it was already replaced; the refusal may arrive late.
  func forget(_ token: Secret) { shared.forget { $0 == token } }
}

extension AppStoreServerTokens: CustomStringConvertible, CustomReflectable {
  var description: String { "AppStoreServerTokens(\(signer))" }

  var customMirror: Mirror { Mirror(self, children: ["signer": signer.description]) }
}
