// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCrypto

/// An identity in a directory: `root.cer` (the root in DER, to give to verifiers), `chain.pem` (leaf,
/// intermediate, root) and `key.pem` (the private key in PKCS#8, readable by its owner alone). The key of an app has no
/// certificates: beside `key.pem` stands `public-key.txt`, the base64 that a store's console would show.
public struct IdentityDirectory: Sendable, Hashable {
  /// Something that deserves a person's attention and stops nothing.
  public enum Warning: Sendable, Hashable, CustomStringConvertible {
    /// Others than its owner may read or write the key file; its permission bits, such as `0o644`.
    case keyReadableByOthers(path: String, permissions: UInt32)

    /// The warning and its remedy in a sentence.
    public var description: String {
      switch self {
      case .keyReadableByOthers(let path, let permissions):
        "Others may read the private key (\(path), mode \(String(permissions, radix: 8))). "
          + "Run: chmod 600 \(path)"
      }
    }
  }

  /// `root.cer`.
  public static let rootFileName = "root.cer"
  /// `chain.pem`.
  public static let chainFileName = "chain.pem"
  /// `key.pem`.
  public static let keyFileName = "key.pem"
  /// `public-key.txt`.
  public static let publicKeyFileName = "public-key.txt"

  /// All of them.
  package static let fileNames = [rootFileName, chainFileName, keyFileName, publicKeyFileName]

  /// The directory's path, absolute or relative to the working directory.
  public let path: String

  /// Names a directory; nothing is touched.
  public init(_ path: String) { self.path = path }

  /// Writes an identity. The directory is made if it is absent, for its owner alone (mode 0700); the key file
  /// has mode 0600 from its first byte. Everything is on disk when this returns.
  ///
  /// - Parameters:
  ///   - identity: What to write; the last certificate of its chain is the root. Without certificates the public key is
  ///     written.
  ///   - passphrase: Encrypts the key (PKCS#8, PBES2) when given.
  ///   - overwriting: Whether files that are there are replaced. Each is replaced in one step.
  /// - Throws: ``SigningError`` with `file-exists` when a file is there and `overwriting` is false (nothing is
  ///   written then), or `unwritable-file`.
  public func write(
    _ identity: SigningIdentity, passphrase: [UInt8]? = nil, overwriting: Bool = false
  ) throws(SigningError) {
    let key: String
    do throws(CryptoError) {
      key = try identity.privateKey.pkcs8PEM(passphrase: passphrase)
    } catch {
      throw SigningError(error)
    }
    var files: [(path: String, mode: UInt16, contents: [UInt8])] = [(keyPath, 0o600, Array(key.utf8))]
    // What belongs to an identity of the other form, and must not stay beside this one's key.
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
  /// - Parameters:
  ///   - passphrase: The passphrase of an encrypted key.
  ///   - warn: Called when others may read the key file.
  /// - Returns: The identity.
  /// - Throws: ``SigningError`` with `unreadable-file`, or as
  ///   ``SigningIdentity/init(keyFile:chainFile:passphrase:)`` with the file's path as place.
  public func load(
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

  /// Reads the certificates without the key, leaf first.
  public func loadChain() throws(SigningError) -> [Certificate] {
    let contents = try FileStore.read(chainPath)
    return try placed(at: chainPath) { () throws(SigningError) in
      try SigningIdentity.certificates(inFile: contents)
    }
  }

  /// Reads the public key of an app without the private one; `nil` for an identity with certificates.
  public func loadPublicKey() throws(SigningError) -> PublicKey? {
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
