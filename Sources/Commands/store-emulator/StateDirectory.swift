// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import ArgumentParser
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptSigning
  import StorefrontSQLite

  /// The directory with the files that tests need: trust anchors and the developer's key.
  struct StateDirectory {
    let path: String

    private static let rootName = "root.cer"
    private static let receiptRootName = "receipt-root.cer"
    private static let tlsAuthorityName = "tls-ca.pem"
    private static let keyName = "developer-key.p8"
    private static let developerName = "developer.json"
    private static let databaseName = "server.sqlite"
    private static let apiKeyName = "api-key.txt"

    /// The database of the server.
    var database: String { "\(path)/\(Self.databaseName)" }
    /// The file with the key of the server's API.
    var apiKey: String { "\(path)/\(Self.apiKeyName)" }

    func write(
      signing: EmulatorSigning, settings: StoreSettings?, tlsAuthority: Certificate, developerKey: PrivateKey,
      options: StoreEmulatorTool
    ) throws {
      let developer = JSONValue.object([
        JSONMember(name: "keyId", value: .string(options.keyId)),
        JSONMember(name: "issuerId", value: .string(options.issuerId)),
        JSONMember(name: "bundleId", value: .string(settings?.bundleId ?? options.bundleId)),
        JSONMember(name: "appAppleId", value: .integer(settings?.appAppleId ?? options.appAppleId)),
      ])
      do {
        try FileStore.ensureDirectory(path)
        try replace(Self.rootName, signing.root.der)
        try replace(Self.receiptRootName, signing.appReceiptRoot.der)
        try replace(Self.tlsAuthorityName, Array(tlsAuthority.pem.utf8))
        try replace(Self.keyName, mode: 0o600, Array(try developerKey.pkcs8PEM().utf8))
        try replace(Self.developerName, developer.encoded())
      } catch {
        throw ToolFailure.exit(ToolFailure.cannotCreate, "\(error)")
      }
    }

    /// Removes the files, and the directory if it is empty.
    func remove() {
      for name in [
        Self.rootName, Self.receiptRootName, Self.tlsAuthorityName, Self.keyName, Self.developerName,
        Self.apiKeyName,
      ] {
        _ = SystemFiles.remove("\(path)/\(name)")
      }
      removeDatabase()
      _ = SystemFiles.removeDirectory(path)
    }

    /// Removes the server's database.
    func removeDatabase() {
      for suffix in ["", "-wal", "-shm"] { _ = SystemFiles.remove(database + suffix) }
    }

    /// One line of JSON: ports, then files, then the URL of the mounted server and a key of it, if there is one.
    func readyLine(
      ports: [(name: String, port: Int)], server: (url: String, key: String)?
    ) -> String {
      let files = [
        ("root", Self.rootName), ("receiptRoot", Self.receiptRootName),
        ("tlsAuthority", Self.tlsAuthorityName),
        ("developerKey", Self.keyName), ("developer", Self.developerName),
      ]
      let members =
        ports.map { JSONMember(name: $0.name, value: .integer(Int64($0.port))) }
        + files.map { JSONMember(name: $0.0, value: .string("\(path)/\($0.1)")) }
        + (server.map { [("server", $0.url), ("key", $0.key)] } ?? []).map {
          JSONMember(name: $0.0, value: .string($0.1))
        }
      return String(decoding: JSONValue.object(members).encoded(), as: UTF8.self) + "\n"
    }

    private func replace(_ name: String, mode: UInt16 = 0o644, _ contents: [UInt8]) throws(SigningError) {
      try FileStore.replace("\(path)/\(name)", mode: mode, contents: contents)
    }
  }
#endif
