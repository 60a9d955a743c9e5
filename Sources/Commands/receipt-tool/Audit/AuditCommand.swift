// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct AuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Record verdicts so that no entry can be changed or removed, and prove what was recorded.",
    discussion: """
      A trail is a file, or a schema of a PostgreSQL database
      (postgresql://user@host/database?schema=name). Beside it are TRAIL.key
      (private: it signs), TRAIL.pub (public: give it to auditors) and
      TRAIL.checkpoint (the last signed state: keep it out of backups); for a server
      they are named after database and schema, in the current directory.

      EXAMPLES:
        receipt-tool audit init verdicts.audit
        receipt-tool verify --audit verdicts.audit \\
          --bundle-id com.example.app receipt.b64
        receipt-tool audit find verdicts.audit --transaction 2000000001
        receipt-tool audit history verdicts.audit 2000000001
        receipt-tool audit prove verdicts.audit 0 -o verdict.tlog-proof
        receipt-tool audit check verdict.tlog-proof --key verdicts.audit.pub
        receipt-tool audit fsck verdicts.audit

      EXIT CODES:
        0 done; 1 not found, not proven, or the trail is not intact; 2 not now, try
        again; 64 wrong command line; 66 no such trail, key or input, or not a
        usable one; 73 something is there already; 74 it could not be stored, or the
        output not written.
      """,
    subcommands: [
      AuditInitCommand.self, AuditAppendCommand.self, AuditShowCommand.self, AuditFindCommand.self,
      AuditHistoryCommand.self, AuditProveCommand.self, AuditCheckCommand.self, AuditCheckpointCommand.self,
      AuditEraseCommand.self, AuditStatsCommand.self, AuditFsckCommand.self, AuditExportCommand.self,
      AuditImportCommand.self, AuditMigrateCommand.self, AuditWitnessCommand.self, AuditBackupCommand.self,
      AuditRestoreKeysCommand.self, AuditReindexCommand.self, AuditRotateKeyCommand.self,
      AuditKeysCommand.self,
      AuditPolicyCommand.self,
    ])
}
