// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

/// An identity in a directory. The directory has the files `root.cer` (the root in DER, to give to verifiers),
/// `chain.pem` (leaf, intermediate, root) and `key.pem` (the private key in PKCS#8, readable only by its owner). The
/// key of an app has no certificates: the directory then has only `key.pem` and `public-key.txt`, the base64 that a
/// store's console would show. If the key is in a token, `key.uri` with its PKCS#11 URI takes the place of `key.pem`.
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
  package static let keyURIFileName = "key.uri"
  package static let publicKeyFileName = "public-key.txt"

  /// The names of all files of an identity.
  package static let fileNames = [
    rootFileName, chainFileName, keyFileName, keyURIFileName, publicKeyFileName,
  ]

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
    var files: [File] = []
    // The files of an identity of another form, which must not remain next to this identity's key.
    var foreign = identity.chain.isEmpty ? [chainPath, rootPath] : [publicKeyPath]
    if let uri = identity.privateKey.tokenURI {
      files.append((keyURIPath, 0o600, Array("\(uri)\n".utf8)))
      foreign.append(keyPath)
    } else {
      do throws(CryptoError) {
        files.append((keyPath, 0o600, Array(try identity.privateKey.pkcs8PEM(passphrase: passphrase).utf8)))
      } catch {
        throw SigningError(error)
      }
      foreign.append(keyURIPath)
    }
    files += chainFiles(identity.chain)
    if identity.chain.isEmpty {
      let publicKey = Base64.encode(identity.privateKey.publicKey.subjectPublicKeyInfo)
      files.append((publicKeyPath, 0o644, publicKey + [UInt8(ascii: "\n")]))
    }
    try write(files, foreign: foreign, overwriting: overwriting)
  }

  /// Writes the certificates of a signer, leaf first, as ``write(_:passphrase:overwriting:)`` does. A key that is in the
  /// directory stays.
  package func write(chain: [Certificate], overwriting: Bool = false) throws(SigningError) {
    try write(chainFiles(chain), foreign: [publicKeyPath], overwriting: overwriting)
  }

  /// Throws `file-exists` if the directory has one of these files of an identity.
  package func requireAbsent(_ names: [String] = fileNames) throws(SigningError) {
    for name in names where try FileStore.status("\(path)/\(name)") != nil {
      throw FileStore.exists("\(path)/\(name)")
    }
  }

  private typealias File = (path: String, mode: UInt16, contents: [UInt8])

  private func chainFiles(_ chain: [Certificate]) -> [File] {
    guard let root = chain.last else { return [] }
    return [(chainPath, 0o644, chain.flatMap { Array($0.pem.utf8) }), (rootPath, 0o644, root.der)]
  }

  private func write(_ files: [File], foreign: [String], overwriting: Bool) throws(SigningError) {
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
    let chainKey = try loadKey(passphrase: passphrase, warn: warn)
    guard let chainFile else { return SigningIdentity(appKey: chainKey) }
    return try placed(at: chainPath) { () throws(SigningError) in
      try SigningIdentity(privateKey: chainKey, chain: SigningIdentity.certificates(inFile: chainFile))
    }
  }

  private func loadKey(
    passphrase: [UInt8]?, warn: (Warning) -> Void
  ) throws(SigningError) -> PrivateKey {
    if try FileStore.status(keyPath) == nil, try FileStore.status(keyURIPath) != nil {
      let uri = String(decoding: Passphrase.trimmingLineEnd(try FileStore.read(keyURIPath)), as: UTF8.self)
      return try placed(at: keyURIPath) { () throws(SigningError) in
        do throws(CryptoError) {
          return try PrivateKey(tokenURI: uri, pin: passphrase)
        } catch {
          throw SigningError(error)
        }
      }
    }
    let keyFile = try FileStore.read(keyPath)
    if let warning = warning() { warn(warning) }
    return try placed(at: keyPath) { () throws(SigningError) in
      try SigningIdentity.privateKey(inFile: keyFile, passphrase: passphrase)
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

  /// Returns a warning if others than its owner may read the key file.
  package func warning() -> Warning? {
    guard let status = try? FileStore.status(keyPath), status.permissions & 0o077 != 0 else { return nil }
    return .keyReadableByOthers(path: keyPath, permissions: UInt32(status.permissions))
  }

  private func isAppKey() throws(SigningError) -> Bool {
    guard try FileStore.status(chainPath) == nil else { return false }
    return try FileStore.status(publicKeyPath) != nil
  }

  private var publicKeyPath: String { "\(path)/\(Self.publicKeyFileName)" }
  private var keyURIPath: String { "\(path)/\(Self.keyURIFileName)" }
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
