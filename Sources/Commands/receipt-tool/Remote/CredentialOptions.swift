// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import Glibc
import ReceiptBytes
import ReceiptCodec
import ReceiptHTTP
import ReceiptSigning
import ReceiptVerification

extension CredentialOptions {
  /// The members that the credentials file may have.
  private static let members: Set = [
    "apiKeyFile", "apiKey", "keyId", "issuerId", "bundleId", "sharedSecret", "huaweiClientId",
    "huaweiClientSecret", "serviceKey",
  ]

  /// The signer of tokens for the app that a flag names, or for the one in the credentials.
  func signer(bundleId: String?) throws -> DeveloperSigner {
    let file = try readFile()
    let key = file["apiKey"]
    let keyPath =
      keyFile ?? file["apiKeyFile"] ?? (key == nil ? environmentVariable("RECEIPTKIT_API_KEY_FILE") : nil)
    let contents: [UInt8]
    if let keyPath {
      contents = try InputFile.contents(of: keyPath, limit: 1 << 16)
    } else if let key {
      contents = Array(key.utf8)
    } else {
      throw Self.missing("--api-key FILE, the .p8 file of App Store Connect", "RECEIPTKIT_API_KEY_FILE")
    }
    let keyId = try Self.value(keyId ?? file["keyId"], "RECEIPTKIT_KEY_ID", "--key-id ID")
    let issuerId = try Self.value(issuerId ?? file["issuerId"], "RECEIPTKIT_ISSUER_ID", "--issuer-id UUID")
    let bundleId = try Self.value(bundleId ?? file["bundleId"], "RECEIPTKIT_BUNDLE_ID", "--bundle-id ID")
    do throws(SigningError) {
      return try DeveloperSigner(
        privateKey: SigningIdentity.privateKey(inFile: contents), keyId: keyId, issuerId: issuerId,
        bundleId: bundleId)
    } catch {
      throw ToolExit.failure(
        .unreadableInput,
        "\(GivenValue.described(keyPath ?? credentialsFile ?? "the API key")): \(error.message)")
    }
  }

  /// The app's shared secret, if any.
  func sharedSecret() throws -> Secret? {
    Self.secret(try readFile()["sharedSecret"], "RECEIPTKIT_SHARED_SECRET")
  }

  /// The key for the `receipt-server` to ask, if any.
  func serviceKey() throws -> Secret? {
    Self.secret(try readFile()["serviceKey"], "RECEIPTKIT_SERVICE_KEY")
  }

  /// The app's client at Huawei AppGallery, with its secret.
  func huawei(clientId: String?) throws -> (id: String, secret: Secret) {
    let file = try readFile()
    let id = try Self.value(
      clientId ?? file["huaweiClientId"], "RECEIPTKIT_HUAWEI_CLIENT_ID", "--huawei-client-id ID")
    let secret = try Self.value(
      file["huaweiClientSecret"], "RECEIPTKIT_HUAWEI_CLIENT_SECRET", "the client's secret")
    return (id, Secret(secret))
  }

  private static func secret(_ given: String?, _ variable: String) -> Secret? {
    (given ?? environmentVariable(variable)).map { Secret($0) }
  }

  private static func value(_ given: String?, _ variable: String, _ flag: String) throws(ExitCode) -> String {
    guard let value = given ?? environmentVariable(variable) else { throw missing(flag, variable) }
    return value
  }

  private static func missing(_ flag: String, _ variable: String) -> ExitCode {
    ToolExit.failure(.usage, "needs \(flag), or \(variable) in the environment, or --credentials FILE")
  }

  private func readFile() throws -> [String: String] {
    guard let path = credentialsFile else { return [:] }
    var name: String { GivenValue.described(path) }
    func unreadable(_ problem: String) -> ExitCode {
      ToolExit.failure(.unreadableInput, "\(name)\(problem)")
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      throw ToolExit.failure(.unreadableInput, "cannot read \(name): \(SystemError(number: errno).reason)")
    }
    guard status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
      throw unreadable(" holds secrets, and others may read or write it: chmod 600 \(path)")
    }
    guard let document = try? JSONValue(parsing: InputFile.contents(of: path, limit: 1 << 16)),
      let members = document.object
    else { throw unreadable(" is not a JSON object") }
    var file: [String: String] = [:]
    for member in members {
      guard let value = member.value.string else { throw unreadable(": \(member.name) is not a text") }
      guard Self.members.contains(member.name) else { throw unreadable(": there is no \(member.name)") }
      file[member.name] = value
    }
    return file
  }
}

extension TokenCommand: OutputOptions {
  func validate() throws {
    guard 1...3600 ~= lifetime else { throw ValidationError("--lifetime takes 1 to 3600 seconds.") }
  }

  func run() throws {
    let now = SystemClock.now()
    let token: String
    do {
      token = try credentials.signer(bundleId: bundleId).serverToken(issuedAt: now, lifetime: lifetime)
    } catch let error as SigningError {
      throw ToolExit.failure(.internalFault, error.message)
    }
    try write(Output.Token(token: token, expiresDate: now.addingSeconds(Double(lifetime))), token)
  }
}
