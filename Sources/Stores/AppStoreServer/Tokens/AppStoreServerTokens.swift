// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning
internal import Synchronization

/// The token of the App Store Server API: one is signed, and used for all calls until shortly before it expires.
/// Clients of both environments share one.
final class AppStoreServerTokens: Sendable {
  /// Seconds that a token is valid.
  static let lifetime = 300
  /// Seconds before its expiry at which it is no longer used: a request takes its time.
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

  /// The token to send now.
  ///
  /// - Throws: `SigningError` when the clock is out of range.
  func token() throws(SigningError) -> String {
    // A task that comes while a token is being signed waits for it: that is shorter than signing another.
    let result = current.withLock { current -> Result<String, SigningError> in
      let now = now()
      // A clock that was set back leaves a token issued in the future, which the App Store would refuse.
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

  /// Drops a token that the App Store refused, unless it was replaced already: the refusal may be late.
  func forget(_ token: String) {
    current.withLock { current in
      if current?.text == token { current = nil }
    }
  }
}

extension AppStoreServerTokens: CustomStringConvertible, CustomReflectable {
  /// Whose tokens; neither token nor key.
  var description: String { "AppStoreServerTokens(\(signer))" }

  /// Whose tokens; neither token nor key.
  var customMirror: Mirror { Mirror(self, children: ["signer": signer.description]) }
}
