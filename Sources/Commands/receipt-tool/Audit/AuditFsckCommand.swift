// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import Glibc
import ReceiptBytes
internal import ReceiptCrypto
import TransparencyLog

struct AuditFsckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fsck",
    abstract: "Check a whole trail, starting from its entries; or an export, without access to the trail.",
    discussion: """
      Recomputes everything from the entries: each hash, the tree, the history of
      each original transaction, the erasures, the index and the checkpoints.
      Altered, missing, reordered or forked entries are reported with their index.
      It changes nothing and needs no private key.

      For a folder that audit export wrote, it needs only the files, the public key
      and, with --since, an earlier checkpoint. Erasable parts in the folder are
      checked as well.

      A backup has no keys of erasable parts (audit backup): with --without-keys
      that is not a fault, and everything except those parts and the index of
      customers is checked.

      EXAMPLES:
        receipt-tool audit fsck verdicts.audit
        receipt-tool audit fsck backup.audit --without-keys \\
          --key verdicts.audit.pub --checkpoint backup.checkpoint
        receipt-tool audit fsck exported/ --key verdicts.pub \\
          --since 2025-10-01.checkpoint

      EXIT CODES:
        0 nothing is wrong; 1 something is; 2 not now, try again; 64 wrong command
        line; 66 the trail cannot be opened; 74 the output cannot be written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var color: ColorOptions

  @Option(
    "since", "For a folder: a checkpoint that was seen before, which the trail must continue.", value: "FILE")
  var since: String?

  @Flag("without-keys", "For a backup, which has no keys of erasable parts.") var withoutKeys = false

  func run() throws {
    let location = try options.readOnlyLocation()
    let verifier = try location.verifierKey()
    let report = try location.work("checked") { progress in
      if Self.isFolder(options.trail) {
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
    try writeAll(output.json ? json(report) : text(report))
    guard report.isClean else { throw ExitCode.invalid }
  }

  private func text(_ report: TrailCheckReport) -> [UInt8] {
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
    return Array(color.colors.painted(lines.map { ShownText.plain($0) + "\n" }.joined()).utf8)
  }

  private func json(_ report: TrailCheckReport) -> [UInt8] {
    let faults = report.faults.map {
      Output.Fault(code: $0.code.rawValue, index: $0.index, place: $0.place, message: $0.message)
    }
    return Output.AuditFsck(
      trail: options.location.name, intact: report.isClean, entries: report.entryCount,
      rootHash: TreeHash(base64: report.rootHash)?.hexadecimal, treeSize: report.checkpointSize,
      hasKeys: report.hasKeys, faults: faults
    ).line()
  }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
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

struct AuditReindexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reindex",
    abstract:
      "Rebuild the index of a trail from its entries, even if a damaged index prevents opening it.",
    discussion: """
      Each entry is verified against the signed tree before it is indexed. Reads and
      writes are possible meanwhile: the new index replaces the old one atomically
      at the end. An interrupted command changes nothing; start it again, which also
      removes the unfinished index. It needs the private key, and free space for a
      second index.

      EXAMPLES:
        receipt-tool audit reindex verdicts.audit
        receipt-tool audit fsck verdicts.audit

      EXIT CODES:
        0 done; 1 an entry is not what was recorded, or the trail is older than its
        last checkpoint; 2 not now, try again; 64 wrong command line; 66 the trail or
        key cannot be used, or it holds no keys of erasable parts; 74 it could not be
        stored.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

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
