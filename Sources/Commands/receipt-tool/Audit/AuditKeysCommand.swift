// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
import TransparencyLog

extension AuditKeysCommand {
  func run() throws {
    let chain = try options.readLog(\.keys)
    if let output { try NewFile.write(chain.encoded, to: output) }
    try show(chain.first, from: nil)
    for succession in chain.successions { try show(succession.key, from: succession.index) }
  }

  private func show(_ key: NoteVerifierKey, from index: UInt64?) throws {
    try json.write(
      Output.AuditKey(publicKey: key.text, index: index),
      (index.map { "from entry \($0)  " } ?? "trusted  ") + key.text)
  }
}

extension AuditRotateKeyCommand {
  func run() async throws {
    let location = options.location
    let name = try location.verifierKey().name
    let newFile = location.privateKeyFile + ".new"
    let new = try newKey(named: name, in: newFile)
    guard let lock = NewFile.lock(newFile) else {
      throw ToolExit.failure(.undetermined, "another process replaces the key with \(newFile) now")
    }
    defer { withExtendedLifetime(lock) {} }
    let succession = try await takeOver(by: new, location)
    let replaced = "\(location.privateKeyFile).replaced-\(succession.index)"
    try NewFile.replace(location.privateKeyFile, by: newFile, keepingAs: replaced)
    try output.write(
      Output.AuditKeyRotation(
        trail: location.name, index: succession.index, publicKey: succession.key.text,
        privateKeyFile: location.privateKeyFile, replacedKeyFile: replaced),
      "entry \(succession.index)  a new key took over: \(succession.key.text)",
      "private key  \(location.privateKeyFile)  (keep it secret)",
      "replaced     \(replaced)  (destroy it when no older backup is needed)")
  }

  /// The new key. If an interrupted rotation created one, it is used.
  private func newKey(named name: String, in file: String) throws -> NoteSignerKey {
    if NewFile.exists(file) { return try TrailLocation.signer(named: name, in: file) }
    let key = try NoteSignerKey.generate(name: name)
    try NewFile.write(Array(key.pem().utf8), to: file, mode: 0o600)
    return key
  }

  private func takeOver(by new: NoteSignerKey, _ location: TrailLocation) async throws -> KeySuccession {
    // An interrupted rotation may have done this already.
    let done = try location.withLog { log in log.keys.successions.last { $0.key == new.verifierKey } }
    if let done { return done }
    return try await options.write { try await $0.rotateKey(to: new) }
  }
}
