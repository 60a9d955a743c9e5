// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import ArgumentParser
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptSigning
  import StorefrontSQLite

  /// The directory with the files that tests need: trust anchors and the developer's key.
  struct StateDirectory {
    let path: String

    /// The files, with their names in the line that says that the process is ready.
    private static let files: KeyValuePairs = [
      "root": "root.cer", "receiptRoot": "receipt-root.cer", "tlsAuthority": "tls-ca.pem",
      "developerKey": "developer-key.p8", "developer": "developer.json",
    ]

    var database: String { "\(path)/server.sqlite" }
    /// The file with the key of the server's API.
    var apiKey: String { "\(path)/api-key.txt" }

    func write(
      signing: EmulatorSigning, settings: StoreSettings?, tlsAuthority: Certificate, developerKey: PrivateKey,
      options: StoreEmulatorTool
    ) throws {
      let developer: JSONMembers = [
        "keyId": options.keyId, "issuerId": options.issuerId,
        "bundleId": settings?.bundleId ?? options.bundleId,
        "appAppleId": settings?.appAppleId ?? options.appAppleId,
      ]
      try ToolFailure.exiting(ToolFailure.cannotCreate) {
        try FileStore.ensureDirectory(path)
        let contents = [
          signing.root.der, signing.appReceiptRoot.der, Array(tlsAuthority.pem.utf8),
          Array(try developerKey.pkcs8PEM().utf8), developer.encoded(),
        ]
        for (file, contents) in zip(Self.files, contents) {
          let mode: UInt16 = file.key == "developerKey" ? 0o600 : 0o644
          try FileStore.replace("\(path)/\(file.value)", mode: mode, contents: contents)
        }
      }
    }

    /// Removes the files, and the directory if it is empty.
    func remove() {
      for file in Self.files { try? FileSystem.remove("\(path)/\(file.value)") }
      try? FileSystem.remove(apiKey)
      removeDatabase()
      _ = try? FileSystem.removeDirectory(path)
    }

    func removeDatabase() {
      for suffix in ["", "-wal", "-shm"] { try? FileSystem.remove(database + suffix) }
    }

    /// One line of JSON: ports, then files, then the URL of the mounted server and a key of it, if there is one.
    func readyLine(ports: [(name: String, port: Int)], server: (url: String, key: String)?) -> String {
      var line = JSONMembers()
      for (name, port) in ports { line += [name: port] }
      for file in Self.files { line += [file.key: "\(path)/\(file.value)"] }
      line += ["server": server?.url, "key": server?.key]
      return String(decoding: line.encoded(), as: UTF8.self) + "\n"
    }
  }
#endif
