// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import Glibc
import ReceiptCodec
import TransparencyLog

/// `receipt-tool audit init`.
struct AuditInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Create a trail, and the keys that it is signed and checked with.",
    discussion: """
      Writes TRAIL, TRAIL.key (PKCS#8 in PEM, mode 0600), TRAIL.pub (one line) and TRAIL.checkpoint. A private key that
      is named by --private-key and exists is used; then none is made.

      EXAMPLES:
        receipt-tool audit init verdicts.audit
        receipt-tool audit init verdicts.audit --origin example.com/verdicts --checkpoint /mnt/other/verdicts.checkpoint
        receipt-tool audit init "postgresql://auditor@db.example.com/receipts?schema=verdicts"

      EXIT CODES:
        0 created; 64 wrong command line; 66 the key cannot be used; 73 a file or trail is there already, or cannot be
        written; 74 it could not be stored.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

  @Option(
    help: ArgumentHelp(
      "The name of the log and of its key: by custom a URL without scheme. Default: HOST/TRAIL.",
      valueName: "NAME"))
  var origin: String?

  @Option(
    help: ArgumentHelp(
      "For how long the same verdict of the same receipt under the same policy is entered only once.",
      valueName: "forever|SECONDS"))
  var once = "forever"

  func validate() throws { try Self.validateOnce(once) }

  static func validateOnce(_ once: String) throws {
    guard once == "forever" || Int64(once) ?? 0 > 0 else {
      throw ValidationError("--once takes \"forever\" or a positive number of seconds.")
    }
  }

  static func window(_ once: String) -> TrailConfiguration.OnceWindow {
    Int64(once).map(TrailConfiguration.OnceWindow.seconds) ?? .forever
  }

  func run() throws {
    let location = options.location
    let origin = origin ?? Self.defaultOrigin(location)
    var written: [String] = []
    do {
      let configuration = try TrailConfiguration(origin: origin, once: Self.window(once))
      for file in [location.publicKey, location.checkpointFile] where NewFile.exists(file) {
        throw ToolExit.failure(ToolExit.cannotCreate, "\(file) is there already")
      }
      let signer = try signer(location, origin, &written)
      try NewFile.write(Array((signer.verifierKey.text + "\n").utf8), to: location.publicKey)
      written.append(location.publicKey)
      let checkpoints = try location.checkpoints(of: origin)
      let storage = try location.storage(creating: true)
      let log = try AuditLog.create(
        in: storage, configuration: configuration, signer: signer, checkpoints: checkpoints)
      try log.close()
      report(location, signer.verifierKey)
    } catch {
      // Keys of a trail that was not made are of no use.
      for file in written { NewFile.remove(file) }
      if let failure = error as? NewFile.Failure {
        throw ToolExit.failure(ToolExit.cannotCreate, failure.description)
      }
      if let error = error as? LogFormatError {
        throw ToolExit.failure(ToolExit.usage, "--origin \(origin): \(error)")
      }
      throw Self.failure(error, location)
    }
  }

  /// Where a new trail is to be made, something else in its place is no unusable input.
  static func failure(_ error: any Error, _ location: TrailLocation) -> any Error {
    if let error = error as? StorageError, error.code == .notATrail {
      return ToolExit.failure(ToolExit.cannotCreate, "\(location.name): \(error)")
    }
    return TrailLocation.failure(error, location.name)
  }

  private func signer(
    _ location: TrailLocation, _ origin: String, _ written: inout [String]
  ) throws -> NoteSignerKey {
    if location.namesPrivateKey, NewFile.exists(location.privateKeyFile),
      let signer = try location.signer(named: origin)
    {
      return signer
    }
    let signer = try NoteSignerKey.generate(name: origin)
    try NewFile.write(Array(signer.pem().utf8), to: location.privateKeyFile, mode: 0o600)
    written.append(location.privateKeyFile)
    return signer
  }

  private func report(_ location: TrailLocation, _ key: NoteVerifierKey) {
    if output.json {
      var object = JSONWriter()
      object.beginObject()
      object.member("trail", location.name)
      object.member("origin", key.name)
      object.member("publicKey", key.text)
      object.member("privateKeyFile", location.privateKeyFile)
      object.member("publicKeyFile", location.publicKey)
      object.member("checkpointFile", location.checkpointFile)
      object.endObject()
      writeLine(object)
      return
    }
    let lines = [
      "trail        \(location.name)",
      "origin       \(key.name)",
      "private key  \(location.privateKeyFile)  (keep it secret)",
      "public key   \(location.publicKey)  (give it to whoever checks): \(key.text)",
      "checkpoint   \(location.checkpointFile)  (keep it out of backups)",
    ]
    writeAll(Array((lines.joined(separator: "\n") + "\n").utf8), to: STDOUT_FILENO)
  }

  /// The machine and the trail's name; only what a key's name may hold.
  private static func defaultOrigin(_ location: TrailLocation) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    let isKnown = unsafe gethostname(&buffer, buffer.count - 1) == 0
    let host =
      isKnown ? String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : ""
    let path = location.isServer ? String(location.publicKey.dropLast(".pub".count)) : location.trail
    let name = path.split(separator: "/").last.map(String.init) ?? "audit"
    let plain = "\(host.isEmpty ? "localhost" : host)/\(name)".map { character in
      character.isASCII && (character.isLetter || character.isNumber || "._-/".contains(character))
        ? character : "_"
    }
    return String(plain)
  }
}
