// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptCodec
import ReceiptCrypto
import ReceiptHTTP
import ReceiptSigning

/// The credentials for the App Store: an API key of App Store Connect, and the older shared secret.
///
/// A flag takes precedence over a file, and a file over an environment variable.
struct CredentialOptions: ParsableArguments {
  @Option(
    "api-key", "The API key of App Store Connect, a .p8 file. Environment: RECEIPTKIT_API_KEY_FILE.",
    value: "FILE")
  var keyFile: String?

  @Option("key-id", "The key's identifier. Environment: RECEIPTKIT_KEY_ID.", value: "ID") var keyId: String?

  @Option("issuer-id", "The issuer's identifier. Environment: RECEIPTKIT_ISSUER_ID.", value: "UUID")
  var issuerId: String?

  @Option(
    "credentials",
    "A JSON file with apiKeyFile or apiKey, keyId, issuerId, bundleId, sharedSecret, huaweiClientId, huaweiClientSecret, "
      + "serviceKey, all optional.", value: "FILE",
    discussion: """
      Only its owner may read it (mode 0600). The secrets are read from this
      file or from RECEIPTKIT_SHARED_SECRET,
      RECEIPTKIT_HUAWEI_CLIENT_SECRET and RECEIPTKIT_SERVICE_KEY, never from
      a flag, because others can see command lines.
      """)
  var credentialsFile: String?

  /// The contents of the credentials file.
  private struct File {
    var keyFile: String?
    var key: String?
    var keyId: String?
    var issuerId: String?
    var bundleId: String?
    var sharedSecret: String?
    var huaweiClientId: String?
    var huaweiClientSecret: String?
    var serviceKey: String?
  }

  /// The signer of tokens for the app that a flag names, or for the one in the credentials.
  func signer(bundleId: String?) throws -> DeveloperSigner {
    let file = try readFile()
    let keyPath =
      keyFile ?? file.keyFile ?? (file.key == nil ? Self.environment("RECEIPTKIT_API_KEY_FILE") : nil)
    let contents: [UInt8]
    if let keyPath {
      contents = try InputFile.contents(of: keyPath, limit: 1 << 16)
    } else if let key = file.key {
      contents = Array(key.utf8)
    } else {
      throw Self.missing("--api-key FILE, the .p8 file of App Store Connect", "RECEIPTKIT_API_KEY_FILE")
    }
    guard let keyId = keyId ?? file.keyId ?? Self.environment("RECEIPTKIT_KEY_ID") else {
      throw Self.missing("--key-id ID", "RECEIPTKIT_KEY_ID")
    }
    guard let issuerId = issuerId ?? file.issuerId ?? Self.environment("RECEIPTKIT_ISSUER_ID") else {
      throw Self.missing("--issuer-id UUID", "RECEIPTKIT_ISSUER_ID")
    }
    guard let bundleId = bundleId ?? file.bundleId ?? Self.environment("RECEIPTKIT_BUNDLE_ID") else {
      throw Self.missing("--bundle-id ID", "RECEIPTKIT_BUNDLE_ID")
    }
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
    (try readFile().sharedSecret ?? Self.environment("RECEIPTKIT_SHARED_SECRET")).map { Secret($0) }
  }

  /// The key for the `receipt-server` to ask, if any.
  func serviceKey() throws -> Secret? {
    (try readFile().serviceKey ?? Self.environment("RECEIPTKIT_SERVICE_KEY")).map { Secret($0) }
  }

  /// The app's client at Huawei AppGallery, with its secret.
  func huawei(clientId: String?) throws -> (id: String, secret: Secret) {
    let file = try readFile()
    guard let id = clientId ?? file.huaweiClientId ?? Self.environment("RECEIPTKIT_HUAWEI_CLIENT_ID") else {
      throw Self.missing("--huawei-client-id ID", "RECEIPTKIT_HUAWEI_CLIENT_ID")
    }
    guard let secret = file.huaweiClientSecret ?? Self.environment("RECEIPTKIT_HUAWEI_CLIENT_SECRET") else {
      throw Self.missing("the client's secret", "RECEIPTKIT_HUAWEI_CLIENT_SECRET")
    }
    return (id, Secret(secret))
  }

  private static func missing(_ flag: String, _ variable: String) -> ExitCode {
    ToolExit.failure(.usage, "needs \(flag), or \(variable) in the environment, or --credentials FILE")
  }

  private static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }

  private func readFile() throws -> File {
    guard let path = credentialsFile else { return File() }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      throw ToolExit.failure(
        .unreadableInput, "cannot read \(GivenValue.described(path)): \(systemMessage(errno))")
    }
    guard status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
      throw ToolExit.failure(
        .unreadableInput,
        "\(GivenValue.described(path)) holds secrets, and others may read or write it: chmod 600 \(path)")
    }
    guard let document = try? JSONValue(parsing: InputFile.contents(of: path, limit: 1 << 16)),
      let members = document.object
    else {
      throw ToolExit.failure(.unreadableInput, "\(GivenValue.described(path)) is not a JSON object")
    }
    var file = File()
    for member in members {
      guard let value = member.value.string else {
        throw ToolExit.failure(
          .unreadableInput, "\(GivenValue.described(path)): \(member.name) is not a text")
      }
      switch member.name {
      case "apiKeyFile": file.keyFile = value
      case "apiKey": file.key = value
      case "keyId": file.keyId = value
      case "issuerId": file.issuerId = value
      case "bundleId": file.bundleId = value
      case "sharedSecret": file.sharedSecret = value
      case "huaweiClientId": file.huaweiClientId = value
      case "huaweiClientSecret": file.huaweiClientSecret = value
      case "serviceKey": file.serviceKey = value
      default:
        throw ToolExit.failure(.unreadableInput, "\(GivenValue.described(path)): there is no \(member.name)")
      }
    }
    return file
  }
}
