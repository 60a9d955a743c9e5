// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
import Glibc
import TransparencyLog

extension AuditInitCommand {
  func validate() throws { try Self.validateOnce(once) }

  static func validateOnce(_ once: String) throws {
    let longest = TrailConfiguration.OnceWindow.longest
    guard once == "forever" || 1...longest ~= Int64(once) ?? 0 else {
      throw ValidationError("--once takes \"forever\" or a number of seconds, 1 to \(longest).")
    }
  }

  static func window(_ once: String) -> TrailConfiguration.OnceWindow {
    Int64(once).map(TrailConfiguration.OnceWindow.seconds) ?? .forever
  }

  /// The public key is written last: it exists only for a complete trail. Without it, an interrupted creation is
  /// resumed.
  func run() throws {
    let location = options.location
    let origin = origin ?? Self.defaultOrigin(location)
    try NewFile.requireAbsent(location.publicKey)
    let hasKey = NewFile.exists(location.privateKeyFile)
    let hasTrail = location.isServer || NewFile.exists(location.trail)
    if !hasKey || !hasTrail { try NewFile.requireAbsent(location.checkpointFile) }
    do {
      let configuration = try TrailConfiguration(origin: origin, once: Self.window(once))
      let checkpoints = try location.checkpoints(of: origin)
      let signer =
        try hasKey ? location.signer(named: origin) ?? .generate(name: origin) : .generate(name: origin)
      let storage = try location.storageOrNew()
      defer { try? storage.close() }
      if !hasKey { try NewFile.write(Array(signer.pem().utf8), to: location.privateKeyFile, mode: 0o600) }
      do throws(AuditError) {
        try create(in: storage, configuration, signer, checkpoints)
      } catch {
        // Remove a new key if another process created the trail, but never one that may have signed the trail.
        if !hasKey, error.code == .alreadyExists { NewFile.remove(location.privateKeyFile) }
        throw error
      }
      try NewFile.write(Array((signer.verifierKey.text + "\n").utf8), to: location.publicKey)
      let key = signer.verifierKey
      try output.write(
        Output.AuditTrail(
          trail: location.name, origin: key.name, publicKey: key.text,
          privateKeyFile: location.privateKeyFile, publicKeyFile: location.publicKey,
          checkpointFile: location.checkpointFile),
        "trail        \(location.name)", "origin       \(key.name)",
        "private key  \(location.privateKeyFile)  (keep it secret)",
        "public key   \(location.publicKey)  (give it to auditors): \(key.text)",
        "checkpoint   \(location.checkpointFile)  (keep it out of backups)")
    } catch {
      if let error = error as? LogFormatError {
        throw ToolExit.failure(.usage, "--origin \(origin): \(error)")
      }
      let failure = Self.failure(error, location)
      let mayGoOn = [ExitCode.inputOutput, ExitCode.undetermined].contains(failure as? ExitCode)
      if mayGoOn, !NewFile.exists(location.publicKey) {
        note("receipt-tool: the trail is not complete; the same command goes on where this one stopped")
      }
      throw failure
    }
  }

  private func create(
    in storage: any TrailStorage, _ configuration: TrailConfiguration, _ signer: NoteSignerKey,
    _ checkpoints: any CheckpointStore
  ) throws(AuditError) {
    do throws(AuditError) {
      try AuditLog.create(
        in: storage, configuration: configuration, signer: signer, checkpoints: checkpoints
      ).close()
    } catch {
      // If only the public key is missing, this trail is from an interrupted creation, and is still empty.
      guard error.code == .alreadyExists,
        let log = try? AuditLog.open(
          storage, verifier: signer.verifierKey, signer: signer, checkpoints: checkpoints),
        log.configuration.once == configuration.once, (try? log.statistics().entryCount) == 0
      else { throw error }
      try log.close()
    }
  }

  /// The error for a new trail. If another file exists at its path, that is the error `cannotCreate`, not an unusable
  /// input.
  static func failure(_ error: any Error, _ location: TrailLocation) -> any Error {
    if let error = error as? StorageError, error.code == .notATrail {
      return ToolExit.failure(.cannotCreate, "\(location.name): \(error)")
    }
    return ToolExit.failure(for: error, location.name)
  }

  /// A default name from the host and the trail's name, with only the characters that a key's name may contain.
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
