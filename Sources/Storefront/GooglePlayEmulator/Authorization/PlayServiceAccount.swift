// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
public import GooglePlay
internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptCrypto

/// A service account. Its key obtains access tokens.
public struct PlayServiceAccount: Sendable, Hashable {
  /// The account's e-mail address, the issuer of its assertions.
  package var email: String
  /// The key's identifier, which assertions may contain as `kid`.
  package var keyId: String
  package var publicKey: PublicKey

  package init(email: String, keyId: String, publicKey: PublicKey) {
    self.email = email
    self.keyId = keyId
    self.publicKey = publicKey
  }

  /// Reads the account from a key file as the Google Cloud console writes it.
  ///
  /// - Throws: `ServiceAccountError`.
  public init(keyFile: [UInt8]) throws(ServiceAccountError) {
    let account = try ServiceAccount(keyFile: keyFile)
    self.init(email: account.email, keyId: account.keyId, publicKey: account.privateKey.publicKey)
  }

  /// Makes an account, and the key file that its clients use.
  ///
  /// - Parameter tokenURI: The URL of the token endpoint, which is written to the file.
  /// - Returns: The account, and the contents of the file, which include the private key.
  /// - Throws: `CryptoError`.
  public static func make(tokenURI: String) throws(CryptoError) -> (
    account: PlayServiceAccount, keyFile: [UInt8]
  ) {
    let key = try PrivateKey.generateRSA()
    let account = PlayServiceAccount(
      email: "play-emulator@receiptkit-emulator.iam.gserviceaccount.com",
      keyId: Hexadecimal.encode(Random.bytes(20)), publicKey: key.publicKey)
    let file: JSONMembers = [
      "type": "service_account", "project_id": "receiptkit-emulator", "private_key_id": account.keyId,
      "private_key": try key.pkcs8PEM(), "client_email": account.email,
      "client_id": "100000000000000000001", "auth_uri": "https://accounts.google.com/o/oauth2/auth",
      "token_uri": tokenURI, "universe_domain": "googleapis.com",
    ]
    return (account, file.encoded())
  }
}
