// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import ReceiptCodec
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification

  /// The files of a development server without a configuration: all in one folder, which is created if it is missing.
  struct DevelopmentSetup {
    static let app = "demo"
    static let bundleId = "com.example.app"

    let folder: String

    var configurationFile: String { "\(folder)/receipt-server.json" }
    var keyFile: String { "\(folder)/api-key.txt" }
    var sampleFile: String { "\(folder)/sample-receipt.jws" }
    private var identityFolder: String { "\(folder)/identity" }

    var isPrepared: Bool { exists(configurationFile) }

    /// Creates the missing files; throws `SigningError`, which names the file.
    func prepare() throws {
      try FileStore.ensureDirectory(folder)
      let directory = IdentityDirectory(identityFolder)
      if !exists("\(identityFolder)/\(IdentityDirectory.rootFileName)") {
        try directory.write(
          try SigningIdentity.create(
            CertificateAuthority.Options(
              organization: "ReceiptKit development", algorithm: .es256, start: SystemClock.now(), days: 3650)
          ))
      }
      if !exists(sampleFile) {
        let now = Int64(SystemClock.now().millisecondsSince1970)
        let payload = """
          {"transactionId":"2000000000000001","originalTransactionId":"2000000000000001",\
          "bundleId":"\(Self.bundleId)","productId":"com.example.app.monthly",\
          "purchaseDate":\(now),"originalPurchaseDate":\(now),"expiresDate":\(now + 30 * 86_400_000),"quantity":1,\
          "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","signedDate":\(now),\
          "environment":"Sandbox","transactionReason":"PURCHASE","storefront":"USA","storefrontId":"143441",\
          "price":4990,"currency":"USD","appAccountToken":"6b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b","appTransactionId":"704000000000000001"}
          """
        let signer = ReceiptSigner(identity: try directory.load())
        let receipt = try signer.sign(
          try ReceiptInput(
            decoding: Array(payload.utf8), as: .signedTransaction, signedAt: SystemClock.now()))
        try FileStore.replace(sampleFile, mode: 0o644, contents: receipt)
      }
      if !exists(configurationFile) {
        let text = """
          {
            "listen": {"host": "127.0.0.1", "port": 8080},
            "database": "service.sqlite",
            "audit": {"trail": "audit.sqlite"},
            "apps": ["\(Self.app)"],
            "app": {
              "\(Self.app)": {
                "record": true,
                "notifications": true,
                "entitlements": ["premium"],
                "entitlement": {"premium": {"products": ["\(Self.bundleId).monthly"]}},
                "signingKeys": ["identity/key.pem"],
                "policy": {
                  "default": {
                    "bundleIds": ["\(Self.bundleId)"],
                    "environments": ["production", "sandbox"],
                    "trust": ["apple", "identity/root.cer"]
                  }
                }
              }
            }
          }

          """
        try FileStore.replace(configurationFile, mode: 0o644, contents: Array(text.utf8))
      }
    }

    /// The API key stored in the folder, or a new one if it is missing or was revoked.
    func key(_ api: ReceiptAPI) async throws -> String {
      if let contents = try? FileStore.read(keyFile) {
        let text = String(decoding: contents, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if try await api.keys.principal(presenting: text) != nil { return text }
      }
      let key = try await api.keys.create(
        name: "development", app: nil, scopes: Scope.ofSecretKeys, by: "command line")
      try FileStore.replace(keyFile, mode: 0o600, contents: Array("\(key)\n".utf8))
      return "\(key)"
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
  }
#endif
