// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail

struct AuditRestoreKeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore-keys",
    abstract: "Put the keys of erasable parts into a copy that was made without them.",
    discussion: """
      For a copy by audit backup, or by pg_dump without the rows of the table keys:
      its receipts and customers can then be read again, including those that were
      erased in the trail since, and it can be written to. A copy that is older than
      the last checkpoint still refuses to open. If the copy has keys already, the
      file has those of another trail, or they would bring back what an entry of the
      copy says was erased, nothing is changed.

      EXAMPLES:
        receipt-tool audit restore-keys restored.audit /vault/today.keys

      EXIT CODES:
        0 restored; 64 wrong command line; 66 the trail or the file cannot be used,
        or they do not belong together; 73 the trail has keys; 74 it could not be
        stored.
      """)

  @Argument("The copy: a path, or postgresql://….", value: "trail") var trail: String

  @Argument("The keys, as audit backup --keys wrote them.", value: "file") var file: String

  @OptionGroup var output: JSONOption

  func run() throws {
    let location = TrailLocation(trail, privateKey: nil, publicKey: nil, checkpoint: nil)
    do {
      let keys = try ErasureKeyBackup(parsing: InputFile.contents(of: file, limit: 1 << 30))
      let storage = try location.storage(creating: false)
      defer { try? storage.close() }
      try keys.restore(to: storage)
    } catch { throw TrailLocation.failure(error, location.name) }
    try output.write(
      Output.AuditRestoredKeys(trail: location.name, hasKeys: true),
      "\(location.name)  the keys of erasable parts were restored")
  }
}
