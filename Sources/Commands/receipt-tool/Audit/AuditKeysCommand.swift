// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import TransparencyLog

struct AuditKeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Show the public keys of a trail, from the trusted one to the current one.",
    discussion: """
      With -o the entries that replaced keys are written to a file with their
      proofs, for audit check --keys.

      EXAMPLES:
        receipt-tool audit keys verdicts.audit
        receipt-tool audit keys verdicts.audit -o verdicts.keys

      EXIT CODES:
        0 shown; 1 the trail is damaged; 64 wrong command line; 66 the trail cannot
        be opened; 73 the file is there already; 74 it could not be written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var json: JSONOption

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("Write the entries that replaced keys to this new file.", valueName: "FILE"))
  var output: String?

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

struct AuditRotateKeyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate-key",
    abstract: "Replace the private key by a new one, in an entry that the old one signs.",
    discussion: """
      TRAIL.pub stays valid: verifiers that trust the first key follow the entries
      to the new one. Later signatures by a replaced key are refused. The new key
      replaces TRAIL.key; the old one is kept as TRAIL.key.replaced-INDEX, for older
      backups, until you destroy it. To use your own key, put it at TRAIL.key.new.
      An interrupted command is resumed when it is started again.

      Restart other processes that write to the trail. Witnesses, and verifiers of
      single proofs, need the new key: audit keys writes the entries that lead to
      it.

      A lost private key cannot be replaced: the trail can still be read and checked
      with the public key, but new entries need a new trail.

      EXAMPLES:
        receipt-tool audit rotate-key verdicts.audit
        receipt-tool audit keys verdicts.audit -o verdicts.keys
        receipt-tool audit check verdict.tlog-proof --key verdicts.audit.pub \\
          --keys verdicts.keys

      EXIT CODES:
        0 done; 1 the trail is damaged; 2 not now, try again; 64 wrong command line;
        66 the trail or key cannot be used; 73 or 74 it could not be stored.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

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
    let reading = try location.open(writing: false)
    let done = reading.keys.successions.last { $0.key == new.verifierKey }
    try? reading.close()
    if let done { return done }
    return try await options.write { try await $0.rotateKey(to: new) }
  }

}
