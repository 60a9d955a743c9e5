// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
public import GooglePlay
internal import ReceiptCodec
public import ReceiptCrypto

/// A service account. Its key obtains access tokens.
public struct PlayServiceAccount: Sendable, Hashable {
  /// The account's e-mail address, the issuer of its assertions.
  package var email: String
  /// The key's identifier, which assertions may contain as `kid`.
  package var keyId: String
  package var publicKey: PublicKey

  /// Reads the account from a key file as the Google Cloud console writes it.
  ///
  /// - Throws: `ServiceAccountError`.
  public init(keyFile: [UInt8]) throws(ServiceAccountError) {
    let account = try ServiceAccount(keyFile: keyFile)
    (email, keyId, publicKey) = (account.email, account.keyId, account.privateKey.publicKey)
  }

  private init(email: String, key: PushKeys.Key) {
    (self.email, keyId, publicKey) = (email, key.keyId, key.privateKey.publicKey)
  }

  /// Makes an account, and the key file that its clients use.
  ///
  /// - Parameter tokenURI: The URL of the token endpoint, which is written to the file.
  /// - Returns: The account, and the contents of the file, which include the private key.
  /// - Throws: `CryptoError`.
  public static func make(tokenURI: String) throws(CryptoError) -> (
    account: PlayServiceAccount, keyFile: [UInt8]
  ) {
    let key = try PushKeys.Key.make()
    let account = PlayServiceAccount(
      email: "play-emulator@receiptkit-emulator.iam.gserviceaccount.com", key: key)
    let file: JSONMembers = [
      "type": "service_account", "project_id": "receiptkit-emulator", "private_key_id": account.keyId,
      "private_key": try key.privateKey.pkcs8PEM(), "client_email": account.email,
      "client_id": "100000000000000000001", "auth_uri": "https://accounts.google.com/o/oauth2/auth",
      "token_uri": tokenURI, "universe_domain": "googleapis.com",
    ]
    return (account, file.encoded())
  }
}
