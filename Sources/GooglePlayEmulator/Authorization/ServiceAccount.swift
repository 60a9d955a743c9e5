// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptBytes
public import ReceiptCrypto

/// A service account, whose key obtains access tokens.
public struct ServiceAccount: Sendable, Hashable {
  /// The account's e-mail address, the issuer of its assertions.
  public var email: String
  /// The key's identifier, which assertions may state as `kid`.
  public var keyId: String
  /// The public key, RSA.
  public var publicKey: PublicKey

  /// Creates an account.
  public init(email: String, keyId: String, publicKey: PublicKey) {
    self.email = email
    self.keyId = keyId
    self.publicKey = publicKey
  }

  /// Reads a key file, as the Google Cloud console writes it.
  ///
  /// - Throws: ``Failure``.
  public init(keyFile: [UInt8]) throws(Failure) {
    let json: JSONValue
    do throws(MalformedReceipt) { json = try JSONValue(parsing: keyFile) } catch {
      throw Failure("The key file is not JSON: \(error.description)")
    }
    guard json["type"]?.string == "service_account" else {
      throw Failure("The \"type\" of the key file is not service_account.")
    }
    guard let email = json["client_email"]?.string, let keyId = json["private_key_id"]?.string,
      let pem = json["private_key"]?.string
    else { throw Failure("The key file needs client_email, private_key_id and private_key.") }
    do throws(CryptoError) {
      self.init(email: email, keyId: keyId, publicKey: try PrivateKey(pem: pem).publicKey)
    } catch {
      throw Failure("The private_key of the key file cannot be read: \(error)")
    }
  }

  /// Makes an account, and the key file that its clients use.
  ///
  /// - Parameter tokenURI: The URL of the token endpoint, which the file names.
  /// - Returns: The account, and the contents of the file. Who has them has the key.
  /// - Throws: `CryptoError`.
  public static func make(tokenURI: String) throws(CryptoError) -> (
    account: ServiceAccount, keyFile: [UInt8]
  ) {
    let key = try PrivateKey.generateRSA()
    let account = ServiceAccount(
      email: "play-emulator@receiptkit-emulator.iam.gserviceaccount.com",
      keyId: Hexadecimal.encode(Random.bytes(20)), publicKey: key.publicKey)
    let file = JSONValue.members(
      ("type", .string("service_account")), ("project_id", .string("receiptkit-emulator")),
      ("private_key_id", .string(account.keyId)), ("private_key", .string(try key.pkcs8PEM())),
      ("client_email", .string(account.email)), ("client_id", .string("100000000000000000001")),
      ("auth_uri", .string("https://accounts.google.com/o/oauth2/auth")), ("token_uri", .string(tokenURI)),
      ("universe_domain", .string("googleapis.com")))
    return (account, file.encoded())
  }

  /// Why a key file cannot be used.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let description: String

    init(_ description: String) { self.description = description }
  }
}
