// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
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
      ] {
        _ = SystemFiles.remove("\(path)/\(name)")
      }
      _ = SystemFiles.removeDirectory(path)
    }

    /// One line of JSON: ports, then files.
    func readyLine(ports: [(name: String, port: Int)]) -> String {
      let files = [
        ("root", Self.rootName), ("receiptRoot", Self.receiptRootName),
        ("tlsAuthority", Self.tlsAuthorityName),
        ("developerKey", Self.keyName), ("developer", Self.developerName),
      ]
      let members =
        ports.map { JSONMember(name: $0.name, value: .integer(Int64($0.port))) }
        + files.map { JSONMember(name: $0.0, value: .string("\(path)/\($0.1)")) }
      return String(decoding: JSONValue.object(members).encoded(), as: UTF8.self) + "\n"
    }

    private func replace(_ name: String, mode: UInt16 = 0o644, _ contents: [UInt8]) throws(SigningError) {
      try FileStore.replace("\(path)/\(name)", mode: mode, contents: contents)
    }
  }
#endif
