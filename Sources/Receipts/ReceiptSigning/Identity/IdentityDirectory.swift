// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

/// An identity in a directory. The directory has the files `root.cer` (the root in DER, to give to verifiers),
/// `chain.pem` (leaf, intermediate, root) and `key.pem` (the private key in PKCS#8, readable only by its owner). The
/// key of an app has no certificates: the directory then has only `key.pem` and `public-key.txt`, the base64 that a
/// store's console would show.
package struct IdentityDirectory: Sendable, Hashable {
  /// A condition that a person should correct, but that stops no operation.
  package enum Warning: Sendable, Hashable, CustomStringConvertible {
    /// Users other than its owner may access the key file; `permissions` are its mode bits, such as `0o644`.
    case keyReadableByOthers(path: String, permissions: UInt32)

    package var description: String {
      switch self {
      case .keyReadableByOthers(let path, let permissions):
        "Others may read the private key (\(path), mode \(String(permissions, radix: 8))). "
          + "Run: chmod 600 \(path)"
      }
    }
  }

  package static let rootFileName = "root.cer"
  package static let chainFileName = "chain.pem"
  package static let keyFileName = "key.pem"
  package static let publicKeyFileName = "public-key.txt"

  /// The names of all files of an identity.
  package static let fileNames = [rootFileName, chainFileName, keyFileName, publicKeyFileName]

  /// The directory's path, absolute or relative to the working directory.
  package let path: String

  /// Creates a reference to a directory, without accessing it.
  package init(_ path: String) { self.path = path }

  /// Writes an identity. A missing directory is created with mode 0700, and the key file has mode 0600 from its first
  /// byte. Everything is on disk when this method returns.
  ///
  /// - Parameters:
  ///   - identity: The identity to write; the last certificate of its chain is the root. Without certificates, the
  ///     public key is written.
  ///   - passphrase: The passphrase with which to encrypt the key (PKCS#8, PBES2); `nil` for no encryption.
  ///   - overwriting: `true` to replace existing files, each atomically, and to remove those of the other form.
  /// - Throws: ``SigningError`` with `file-exists` if a file exists and `overwriting` is false (nothing is written
  ///   then), or `unwritable-file`.
  package func write(
    _ identity: SigningIdentity, passphrase: [UInt8]? = nil, overwriting: Bool = false
  ) throws(SigningError) {
    let key: String
    do throws(CryptoError) {
      key = try identity.privateKey.pkcs8PEM(passphrase: passphrase)
    } catch {
      throw SigningError(error)
    }
    var files: [(path: String, mode: UInt16, contents: [UInt8])] = [(keyPath, 0o600, Array(key.utf8))]
    // The files of an identity of the other form, which must not remain next to this identity's key.
    let foreign = identity.chain.isEmpty ? [chainPath, rootPath] : [publicKeyPath]
    if let root = identity.chain.last {
      files.append((chainPath, 0o644, identity.chain.flatMap { Array($0.pem.utf8) }))
      files.append((rootPath, 0o644, root.der))
    } else {
      let publicKey = Base64.encode(identity.privateKey.publicKey.subjectPublicKeyInfo)
      files.append((publicKeyPath, 0o644, publicKey + [UInt8(ascii: "\n")]))
    }
    try FileStore.ensureDirectory(path)
    if overwriting {
      for file in files { try FileStore.replace(file.path, mode: file.mode, contents: file.contents) }
      for path in foreign { FileStore.remove(path) }
    } else {
      for path in files.map(\.path) + foreign where try FileStore.status(path) != nil {
        throw FileStore.exists(path)
      }
      var written: [String] = []
      do throws(SigningError) {
        for file in files {
          try FileStore.create(file.path, mode: file.mode, contents: file.contents)
          written.append(file.path)
        }
      } catch {
        for path in written { FileStore.remove(path) }
        throw error
      }
    }
    try FileStore.synchronizeDirectory(path)
  }

  /// Reads the identity.
  ///
  /// - Throws: ``SigningError`` with `unreadable-file`, or an error of
  ///   ``SigningIdentity/init(keyFile:chainFile:passphrase:)`` with the file's path as its place.
  package func load(
    passphrase: [UInt8]? = nil, warn: (Warning) -> Void = { _ in }
  ) throws(SigningError) -> SigningIdentity {
    let chainFile = try isAppKey() ? nil : FileStore.read(chainPath)
    let keyFile = try FileStore.read(keyPath)
    if let status = try FileStore.status(keyPath), status.permissions & 0o077 != 0 {
      warn(.keyReadableByOthers(path: keyPath, permissions: UInt32(status.permissions)))
    }
    let key = try placed(at: keyPath) { () throws(SigningError) in
      try SigningIdentity.privateKey(inFile: keyFile, passphrase: passphrase)
    }
    guard let chainFile else { return SigningIdentity(appKey: key) }
    return try placed(at: chainPath) { () throws(SigningError) in
      try SigningIdentity(privateKey: key, chain: SigningIdentity.certificates(inFile: chainFile))
    }
  }

  /// Reads only the certificates, leaf first.
  package func loadChain() throws(SigningError) -> [Certificate] {
    let contents = try FileStore.read(chainPath)
    return try placed(at: chainPath) { () throws(SigningError) in
      try SigningIdentity.certificates(inFile: contents)
    }
  }

  /// Reads only the public key of an app; `nil` for an identity with certificates.
  package func loadPublicKey() throws(SigningError) -> PublicKey? {
    guard try isAppKey() else { return nil }
    let contents = try FileStore.read(publicKeyPath)
    return try placed(at: publicKeyPath) { () throws(SigningError) in
      do throws(CryptoError) {
        return try PublicKey(inFile: contents)
      } catch {
        throw SigningError(error)
      }
    }
  }

  private func isAppKey() throws(SigningError) -> Bool {
    guard try FileStore.status(chainPath) == nil else { return false }
    return try FileStore.status(publicKeyPath) != nil
  }

  private var publicKeyPath: String { "\(path)/\(Self.publicKeyFileName)" }
  private var keyPath: String { "\(path)/\(Self.keyFileName)" }
  private var chainPath: String { "\(path)/\(Self.chainFileName)" }
  private var rootPath: String { "\(path)/\(Self.rootFileName)" }

  private func placed<Result>(
    at path: String, _ body: () throws(SigningError) -> Result
  ) throws(SigningError) -> Result {
    do throws(SigningError) {
      return try body()
    } catch {
      let place = error.place.isEmpty ? path : "\(path), \(error.place)"
      throw SigningError(error.code, at: place, error.message)
    }
  }
}
