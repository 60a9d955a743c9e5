// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
import ReceiptCrypto
import TransparencyLog

extension AuditWitnessCommand {
  func validate() throws {
    guard (create == nil) != logs.isEmpty else { throw ValidationError("Give --create or --log.") }
    guard create != nil || !output.json else { throw ValidationError("--json is for --create.") }
  }

  func run() throws {
    if let create {
      let key = try createKey(name: create)
      return try output.write(Output.AuditWitness(name: key.name, publicKey: key.text), key.text)
    }
    guard environmentVariable("REQUEST_METHOD") ?? "POST" == "POST" else {
      return try Self.print(WitnessResponse(status: 405), "Allow: POST\r\n")
    }
    let witness: CheckpointWitness
    let body: [UInt8]
    do {
      witness = try self.witness(
        of: logs.map {
          let key = try TrailLocation.verifierKey($0)
          guard key.kind == .ed25519 else {
            throw ToolExit.failure(.unreadableInput, "\(key.name) is the key of a witness, not of a log")
          }
          return key
        })
      body = try Self.body()
    } catch {
      try? Self.print(WitnessResponse(status: 500))
      throw error
    }
    let answer = witness.respond(to: body)
    if let reason = answer.reason { note("receipt-tool: answered \(answer.response.status): \(reason)") }
    try Self.print(answer.response)
  }

  /// Reads the body of the request. Its length is the one that the web server states, because the web server need not
  /// close the stream.
  private static func body() throws -> [UInt8] {
    let length = environmentVariable("CONTENT_LENGTH").flatMap { Int($0) } ?? .max
    // One byte more than the limit is read, which is the last one of the body.
    let limit = min(CheckpointWitness.maximumRequestByteCount, max(0, length) - 1)
    return try InputFile.contents(of: "-", limit: limit)
  }

  private static func print(_ response: WitnessResponse, _ further: String = "") throws {
    let reason = [
      200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
      409: "Conflict", 422: "Unprocessable Entity", 503: "Service Unavailable",
    ]
    let head =
      "Status: \(response.status) \(reason[response.status] ?? "Internal Server Error")\r\n"
      + "Content-Type: \(response.contentType ?? "text/plain; charset=utf-8")\r\n\(further)\r\n"
    try writeAll(Array(head.utf8) + response.body)
  }
}

// The files of a witness: `witness.key`, `witness.pub`, and for each log a file with the last checkpoint that the witness
// cosigned.
extension AuditWitnessCommand {
  private var privateKeyFile: String { "\(folder)/witness.key" }
  private var publicKeyFile: String { "\(folder)/witness.pub" }

  /// Creates a key, and the folder if it does not exist.
  private func createKey(name: String) throws -> NoteVerifierKey {
    let key: NoteSignerKey
    do { key = try NoteSignerKey.generate(name: name) } catch {
      throw ToolExit.failure(.usage, "--create \(name): \(error)")
    }
    try NewFile.makeFolder(folder)
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
  private func witness(of logs: [NoteVerifierKey]) throws -> CheckpointWitness {
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
            path: "\(folder)/\(SHA256Digest(of: origin).hexadecimal).checkpoint"))
      })
  }

  private func publicKey() throws -> NoteVerifierKey {
    let text = String(decoding: try InputFile.contents(of: publicKeyFile, limit: 1 << 16), as: UTF8.self)
    guard let line = text.split(whereSeparator: \.isNewline).first,
      let key = try? NoteVerifierKey(String(line)),
      key.kind == .cosignature
    else { throw ToolExit.failure(.unreadableInput, "\(publicKeyFile) holds no public key of a witness") }
    return key
  }
}
