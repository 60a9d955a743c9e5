// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  internal import ReceiptCrypto

  /// A permission of a key.
  ///
  /// No scope includes another.
  public enum Scope: String, Sendable, Hashable, CaseIterable {
    /// Permission to have receipts verified and inspected.
    case verify
    /// Permission to read entitlements, changes and the audit trail.
    case read
    /// Permission to manage keys and webhooks, and to erase customers.
    case admin
    /// Permission to control the emulated stores.
    case emulator
  }

  /// The text of an API key, which is shown once: `rk_ID_SECRET`.
  ///
  /// The identifier has 12 hexadecimal digits; the secret is 32 random bytes in base64url. The server stores the
  /// SHA-256 of the secret. 256 random bits need neither salt nor key stretching.
  package struct APIKeyText: Sendable, Hashable, CustomStringConvertible {
    package let id: String
    let secret: String

    /// Generates a key.
    package static func generate() -> APIKeyText {
      APIKeyText(id: Hexadecimal.encode(Random.bytes(6)), secret: Base64URL.encodeToString(Random.bytes(32)))
    }

    private init(id: String, secret: String) {
      self.id = id
      self.secret = secret
    }

    /// Parses a key; `nil` if the text is not a key.
    package init?(_ text: some StringProtocol) {
      let parts = text.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0] == "rk", parts[1].utf8.count == 12, parts[2].utf8.count == 43 else {
        return nil
      }
      self.init(id: String(parts[1]), secret: String(parts[2]))
    }

    /// The SHA-256 hash of the secret, which is stored instead of the secret.
    package var hash: [UInt8] { Digest.hash(Array(secret.utf8), using: .sha256) }

    /// The key in the form that clients present.
    package var description: String { "rk_\(id)_\(secret)" }
  }

  /// The key that authenticates a request, either presented with it or used for the console's login.
  package struct Principal: Sendable, Hashable {
    /// The identifier of the key.
    package let keyID: String
    /// The name of the key.
    package let name: String
    /// The app that the key is confined to; `nil` for all apps.
    package let app: String?
    /// The scopes of the key.
    package let scopes: Set<Scope>

    /// Returns `true` if the key may read and change the data of an app.
    func mayUse(app name: String) -> Bool { app == nil || app == name }

    /// Returns `true` if the key has a scope.
    func may(_ scope: Scope) -> Bool { scopes.contains(scope) }
  }
#endif
