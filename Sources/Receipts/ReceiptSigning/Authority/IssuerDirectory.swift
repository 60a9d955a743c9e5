// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// An issuer in an ``AuthorityDirectory``: the root or an intermediate. Its directory is that of an identity, whose chain
/// begins with the issuer, with the files `index.txt` (``CertificateIndex``), `index.txt.attr` (for `openssl ocsp`),
/// `crlnumber` (the number of the next list, in hexadecimal as `openssl ca` has it) and `certificates/SERIAL.pem`.
struct IssuerDirectory {
  let name: String
  let path: String
  let chain: [Certificate]
  let certificate: Certificate

  /// Reads the certificates of an issuer that exists.
  init(_ name: String, in directory: String) throws(SigningError) {
    let path = "\(directory)/\(name)"
    let chain = try IdentityDirectory(path).loadChain()
    guard let certificate = chain.first else { throw SigningError(.emptyChain, "There is no certificate.") }
    self.init(name: name, path: path, chain: chain, certificate: certificate)
  }

  private init(name: String, path: String, chain: [Certificate], certificate: Certificate) {
    (self.name, self.path, self.chain, self.certificate) = (name, path, chain, certificate)
  }

  /// Writes a new issuer, which has issued nothing. Nothing can be read from the directory before it is complete: it is
  /// made under another name.
  @discardableResult
  static func create(
    _ name: String, in directory: String, _ identity: SigningIdentity, passphrase: [UInt8]?
  ) throws(SigningError) -> IssuerDirectory {
    guard let certificate = identity.leaf else {
      throw SigningError(.emptyChain, "There is no certificate.")
    }
    let path = "\(directory)/\(name)"
    try NewDirectory.create(path) { temporary throws(SigningError) in
      try IdentityDirectory(temporary).write(identity, passphrase: passphrase)
      let files = [
        (indexName, CertificateIndex(of: certificate).encoded()), (numberName, Array("01\n".utf8)),
        // Several valid certificates may have one subject.
        (indexName + ".attr", Array("unique_subject = no\n".utf8)),
      ]
      for (file, contents) in files {
        try FileStore.create("\(temporary)/\(file)", mode: 0o644, contents: contents)
      }
      try FileStore.ensureDirectory("\(temporary)/certificates")
    }
    return IssuerDirectory(name: name, path: path, chain: identity.chain, certificate: certificate)
  }

  /// Reads the private key.
  func identity(passphrase: [UInt8]?) throws(SigningError) -> SigningIdentity {
    try IdentityDirectory(path).load(passphrase: passphrase)
  }

  func index() throws(SigningError) -> CertificateIndex {
    let file = "\(path)/\(Self.indexName)"
    let contents = try FileStore.read(file)
    do throws(SigningError) {
      return try CertificateIndex(contents, of: certificate)
    } catch {
      throw SigningError(error.code, at: "\(file), \(error.place)", error.message)
    }
  }

  /// Replaces the index. It is on disk when this method returns.
  func write(_ index: CertificateIndex) throws(SigningError) {
    try FileStore.replace("\(path)/\(Self.indexName)", mode: 0o644, contents: index.encoded())
    try FileStore.synchronizeDirectory(path)
  }

  /// Adds a certificate to the index, and keeps a copy of it. The index is written first: a certificate that is on disk
  /// or elsewhere is always in the index.
  func add(_ certificate: Certificate, to index: CertificateIndex) throws(SigningError) {
    var index = index
    index[certificate.serialNumber] = CertificateIndex.Entry(certificate)
    try write(index)
    let folder = "\(path)/certificates"
    try FileStore.ensureDirectory(folder)
    try FileStore.create(
      "\(folder)/\(certificate.serialNumberHex.uppercased()).pem", mode: 0o644,
      contents: Array(certificate.pem.utf8))
    try FileStore.synchronizeDirectory(folder)
  }

  /// Returns the number of the next revocation list, which no other list gets: the one after it is on disk before.
  func takeListNumber() throws(SigningError) -> Int64 {
    let file = "\(path)/\(Self.numberName)"
    let text = String(decoding: try FileStore.read(file), as: UTF8.self)
    guard text.hasSuffix("\n"), let number = Int64(text.dropLast(), radix: 16), number > 0, number < .max
    else {
      throw SigningError(
        .malformedAuthority, at: file,
        "This is not the number of a revocation list. Write the number after that of the last list, in hexadecimal."
      )
    }
    let next = String(number + 1, radix: 16, uppercase: true)
    let padded = next.utf8.count.isMultiple(of: 2) ? next : "0" + next
    try FileStore.replace(file, mode: 0o644, contents: Array((padded + "\n").utf8))
    try FileStore.synchronizeDirectory(path)
    return number
  }

  static let indexName = "index.txt"
  static let numberName = "crlnumber"
}

/// Creates a directory with its contents under another name, and renames it when it is complete and on disk.
enum NewDirectory {
  /// - Throws: ``SigningError`` with `file-exists` if there is something in the directory, or `unwritable-file`.
  static func create(
    _ path: String, _ fill: (_ temporary: String) throws(SigningError) -> Void
  ) throws(SigningError) {
    guard try isFree(path) else { throw FileStore.exists(path) }
    let temporary = "\(path).\(Hexadecimal.encode(Random.bytes(8))).new"
    do throws(SigningError) {
      try FileStore.ensureDirectory(temporary)
      try fill(temporary)
      try FileStore.synchronizeDirectory(temporary)
      do throws(SystemError) {
        try FileSystem.rename(temporary, to: path)
      } catch {
        if error.isExisting { throw FileStore.exists(path) }
        throw SigningError(.unwritableFile, at: path, "It cannot be created: \(error.reason).")
      }
      try FileStore.synchronizeDirectory(FileSystem.directory(of: path))
    } catch {
      removeAll(temporary)
      throw error
    }
  }

  private static func isFree(_ path: String) throws(SigningError) -> Bool {
    guard let status = try FileStore.status(path) else { return true }
    guard status.isDirectory else { return false }
    return (try? FileSystem.names(in: path).isEmpty) ?? false
  }

  private static func removeAll(_ path: String) {
    for name in (try? FileSystem.names(in: path)) ?? [] {
      let child = "\(path)/\(name)"
      if (try? FileSystem.linkStatus(child))??.isDirectory == true {
        removeAll(child)
      } else {
        FileStore.remove(child)
      }
    }
    _ = try? FileSystem.removeDirectory(path)
  }
}
