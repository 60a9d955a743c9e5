// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
import ReceiptBytes
internal import ReceiptCrypto
import TransparencyLog

extension AuditFsckCommand {
  func run() throws {
    let location = try options.readOnlyLocation()
    let verifier = try location.verifierKey()
    let report = try location.work("checked") { progress in
      if (try? FileSystem.status(options.trail))?.isDirectory == true {
        try refuse(
          ["--checkpoint": options.files.checkpoint != nil], unless: false,
          "has no effect on a folder; a checkpoint that was kept goes with --since")
        try refuse(["--without-keys": withoutKeys], unless: false, "has no effect on a folder")
        let checker = TileDirectoryChecker(directory: TileDirectory(path: options.trail), verifier: verifier)
        let older = try since.map { try Self.checkpoint($0, checker) }
        return try checker.check(continuing: older) { progress.show($0, of: $1) }
      }
      try refuse(["--since": since != nil], unless: false, "needs a folder that audit export wrote")
      let storage = try location.storageForReading()
      defer { try? storage.close() }
      return try TrailChecker(
        storage: storage, verifier: verifier, checkpoints: try location.checkpoints(of: verifier.name)
      ).check(allowsMissingKeys: withoutKeys) { progress.show($0, of: $1) }
    }
    if report.hasUnfinishedIndex {
      note(
        "receipt-tool: \(location.name): there are rows of an audit reindex that is under way or was cut off; if it was, "
          + "start it again")
    }
    try output.write(object(report), lines(report))
    guard report.isClean else { throw ExitCode.invalid }
  }

  private func lines(_ report: TrailCheckReport) -> [String] {
    var lines = report.faults.map(\.description)
    if report.faults.count == TrailCheckReport.maximumFaults { lines.append("… and possibly more") }
    if report.isClean {
      lines.append(
        "INTACT  \(options.location.name)  \(report.entryCount) entries, root \(report.rootHash), checkpoint of "
          + "\(report.checkpointSize ?? 0)"
          + (report.hasKeys ? "" : "; erasable parts not checked: it holds no keys"))
    } else {
      lines.append("NOT INTACT  \(options.location.name)  \(report.faults.count) faults")
    }
    return lines
  }

  private func object(_ report: TrailCheckReport) -> Output.AuditFsck {
    let faults = report.faults.map {
      Output.Fault(code: $0.code.rawValue, index: $0.index, place: $0.place, message: $0.message)
    }
    return Output.AuditFsck(
      trail: options.location.name, intact: report.isClean, entries: report.entryCount,
      rootHash: TreeHash(base64: report.rootHash)?.hexadecimal, treeSize: report.checkpointSize,
      hasKeys: report.hasKeys, faults: faults)
  }

  private static func checkpoint(_ file: String, _ checker: TileDirectoryChecker) throws -> VerifiedCheckpoint
  {
    let bytes = try InputFile.contents(of: file, limit: 1 << 20)
    do {
      return try checker.verify(SignedCheckpoint(parsing: bytes))
    } catch let error as StorageError {
      throw error
    } catch  where !error.isFailureToCheckNote {
      throw ToolExit.failure(
        .unreadableInput,
        "\(GivenValue.described(file)) is no checkpoint of this trail: \(error); if it is older than the trail's second "
          + "key, give the first key as --key")
    }
  }
}

extension AuditReindexCommand {
  func run() throws {
    let location = options.location
    let indexed = try location.work("indexed") { progress in
      let signer = try location.requiredSigner()
      let storage = try location.storage(creating: false)
      defer { try? storage.close() }
      return try TrailReindexing(
        storage, checkpoints: try location.checkpoints(of: signer.name), signer: signer
      ).run { progress.show($0, of: $1) }
    }
    try output.write(
      Output.AuditReindexing(trail: location.name, entries: indexed),
      "\(location.name)  the index of \(indexed) entries was rebuilt")
  }
}
