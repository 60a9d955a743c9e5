// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import Glibc
import ReceiptCodec
import TransparencyLog

/// `receipt-tool audit export`.
struct AuditExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a trail as static files that any web server can offer (C2SP tlog-tiles).",
    discussion: """
      What the newest checkpoint covers is written: checkpoint, tile/… and tile/entries/…. Files that an earlier export
      of this trail has finished are left alone, so that doing it again costs only what is new.

      Receipts and customers are left out, unless --with-erasable: then they are in erasable/…, for audit import. Never
      put that folder on a web server. An export removes what earlier ones have left there and it does not write itself:
      without --with-erasable the folder erasable, with it the parts that were erased since. Export again after audit
      erase. Partial tiles go when the full one is there.

      A folder with the export of another log, or with files in tile or erasable that no export writes, is refused, and
      nothing in it is changed. Files beside these are left alone.

      EXAMPLES:
        receipt-tool audit export verdicts.audit /var/www/verdicts
        receipt-tool audit fsck /var/www/verdicts --key verdicts.audit.pub

      EXIT CODES:
        0 written; 1 the trail is not intact, or older than the export in the folder; 64 wrong command line; 66 the
        trail cannot be opened; 73 the folder has something else; 74 a file or the output cannot be written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

  @Argument(help: ArgumentHelp("The folder; it is made if absent.", valueName: "folder"))
  var folder: String

  @Flag(name: .customLong("with-erasable"), help: "Also write receipts and customers: for moving the trail.")
  var withErasable = false

  func run() throws {
    let location = try options.readOnlyLocation()
    let log = try location.open(writing: false)
    let progress = EntryProgress("wrote")
    do {
      let checkpoint = try log.export(
        to: TileDirectory(path: folder), includingErasableParts: withErasable
      ) { progress.show($0, of: $1) }
      progress.finish()
      try log.close()
      let written = checkpoint.checkpoint
      if output.json {
        var object = JSONWriter()
        object.beginObject()
        object.member("folder", folder)
        object.member("entries", written.size)
        object.member("root", written.root.base64)
        object.endObject()
        try writeLine(object)
      } else {
        try writeLine("\(folder)  \(written.size) entries, root \(written.root.base64)")
      }
    } catch {
      throw TrailLocation.failure(error, location.name)
    }
  }
}
