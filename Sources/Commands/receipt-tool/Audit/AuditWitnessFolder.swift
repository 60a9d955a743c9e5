// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Glibc
import ReceiptCrypto
import TransparencyLog

/// The files of a witness: `witness.key`, `witness.pub`, and for each log a file with the last checkpoint that the
/// witness cosigned.
struct AuditWitnessFolder {
  let path: String

  private var privateKeyFile: String { "\(path)/witness.key" }
  private var publicKeyFile: String { "\(path)/witness.pub" }

  /// Creates a key, and the folder if it does not exist.
  func create(name: String) throws -> NoteVerifierKey {
    let key: NoteSignerKey
    do { key = try NoteSignerKey.generate(name: name) } catch {
      throw ToolExit.failure(.usage, "--create \(name): \(error)")
    }
    guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw ToolExit.failure(.cannotCreate, "cannot make \(path): \(systemMessage(errno))")
    }
    try NewFile.write(Array(key.pem().utf8), to: privateKeyFile, mode: 0o600)
    do {
      try NewFile.write(Array("\(key.cosignatureVerifierKey)\n".utf8), to: publicKeyFile)
    } catch {
      NewFile.remove(privateKeyFile)
      throw error
    }
    return key.cosignatureVerifierKey
  }

  /// The witness for logs with these keys. Keys with the same name belong to the same log.
  func witness(of logs: [NoteVerifierKey]) throws -> CheckpointWitness {
    let publicKey = try publicKey()
    let pem = try InputFile.contents(of: privateKeyFile, limit: 1 << 16)
    let key = try ToolExit.reading(orElse: "\(privateKeyFile) holds no Ed25519 private key in PEM") {
      try NoteSignerKey(name: publicKey.name, pem: String(decoding: pem, as: UTF8.self))
    }
    guard key.cosignatureVerifierKey == publicKey else {
      throw ToolExit.failure(
        .unreadableInput, "\(privateKeyFile) and \(publicKeyFile) do not belong together")
    }
    var known: [[UInt8]: [NoteVerifierKey]] = [:]
    for log in logs {
      guard log.publicKey != publicKey.publicKey else {
        throw ToolExit.failure(.usage, "the witness and the log \(log.name) have the same key")
      }
      known[Array(log.name.utf8), default: []].append(log)
    }
    return CheckpointWitness(
      key: key,
      logs: known.map { origin, keys in
        CheckpointWitness.KnownLog(
          keys: keys,
          checkpoints: FileCheckpointStore(
            path: "\(path)/\(SHA256Digest(of: origin).hexadecimal).checkpoint"))
      })
  }

  private func publicKey() throws -> NoteVerifierKey {
    let text = String(
      decoding: try InputFile.contents(of: publicKeyFile, limit: 1 << 16), as: UTF8.self)
    guard let line = text.split(whereSeparator: \.isNewline).first,
      let key = try? NoteVerifierKey(String(line)),
      key.kind == .cosignature
    else {
      throw ToolExit.failure(.unreadableInput, "\(publicKeyFile) holds no public key of a witness")
    }
    return key
  }
}
