// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning
internal import Synchronization

/// The token of the App Store Server API, signed once and used for all calls until shortly before it expires. Clients
/// of both environments share one.
final class AppStoreServerTokens: Sendable {
  /// In seconds.
  static let lifetime = 300
  /// The time, in seconds, before its expiry from which a token is no longer used, because a request takes time.
  static let reserve: Double = 60

  let signer: DeveloperSigner
  private let now: @Sendable () -> Timestamp
  private let current = Mutex<Token?>(nil)

  private struct Token {
    let text: String
    let issuedAt: Timestamp
    let usableUntil: Timestamp
  }

  init(signer: DeveloperSigner, time: RemoteTime = .system) {
    self.signer = signer
    self.now = time.now
  }

  /// Returns the token to send now.
  ///
  /// - Throws: `SigningError` if the clock is out of range.
  func token() throws(SigningError) -> String {
    // A task that arrives while a token is being signed waits for it, which takes less time than signing another.
    let result = current.withLock { current -> Result<String, SigningError> in
      let now = now()
      // If the clock was set back, the token was issued in the future, and the App Store would refuse it.
      if let current, current.issuedAt <= now, now < current.usableUntil { return .success(current.text) }
      do throws(SigningError) {
        let text = try signer.serverToken(issuedAt: now, lifetime: Self.lifetime)
        current = Token(
          text: text, issuedAt: now,
          usableUntil: now.addingSeconds(Double(Self.lifetime) - Self.reserve))
        return .success(text)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Drops a token that the App Store refused, unless it was already replaced; the refusal may arrive late.
  func forget(_ token: String) {
    current.withLock { current in
      if current?.text == token { current = nil }
    }
  }
}

extension AppStoreServerTokens: CustomStringConvertible, CustomReflectable {
  var description: String { "AppStoreServerTokens(\(signer))" }

  var customMirror: Mirror { Mirror(self, children: ["signer": signer.description]) }
}
