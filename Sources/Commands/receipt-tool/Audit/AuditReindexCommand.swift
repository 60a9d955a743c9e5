// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import TransparencyLog

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
    let progress = Progress("indexed")
    let indexed: UInt64
    do {
      let signer = try location.requiredSigner()
      let storage = try location.storage(creating: false)
      defer { try? storage.close() }
      indexed = try TrailReindexing(
        storage, checkpoints: try location.checkpoints(of: signer.name), signer: signer
      ).run { progress.show($0, of: $1) }
      progress.finish()
    } catch {
      progress.clear()
      throw TrailLocation.failure(error, location.name)
    }
    try output.write(
      Output.AuditReindexing(trail: location.name, entries: indexed),
      "\(location.name)  the index of \(indexed) entries was rebuilt")
  }
}
