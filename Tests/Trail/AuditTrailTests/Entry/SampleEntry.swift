// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCrypto

/// The worked example of the documentation (AuditTrail.docc/Entries.md).
enum SampleEntry {
  static func digest(_ text: String) -> SHA256Digest { SHA256Digest(of: Array(text.utf8)) }

  static let salt = [UInt8](0..<32)

  static var facts: EntryFacts {
    EntryFacts(
      time: 1_759_302_519_101, kind: .verdict, format: "signed-transaction",
      receipt: digest("signed content"),
      encoding: digest("receipt"), transaction: "2000001024998954", original: "2000001024993299",
      product: "com.example.notes.pro 50%", bundle: "com.example.notes",
      environment: "Production", expires: 1_761_894_519_000, verdict: .invalid, reason: "revoked",
      signer: digest("signer"), root: digest("root"), policy: digest("policy"),
      checks: [RecordedCheck(name: "app-store", answer: .revoked)])
  }

  static func part() throws -> ErasablePart {
    try ErasablePart(
      salt: salt, receipt: Array("receipt".utf8), customerToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138")
  }

  static func entry() throws -> AuditEntry {
    AuditEntry(facts, previous: 41, commitment: try part().commitment)
  }

  static let text = """
    receiptkit.dev/audit-entry@v2
    time 1759302519101
    kind verdict
    format signed-transaction
    receipt ICO2c3BhIU6oTPxThigL+gpnuBu26jINEUOdhOnvdX0=
    encoding bzKGCRDKD7KiDH/aFDZmsJ2/jbUjgZXJClhvtUL/DK0=
    transaction 2000001024998954
    original 2000001024993299
    product com.example.notes.pro%2050%25
    bundle com.example.notes
    environment Production
    expires 1761894519000
    verdict invalid
    reason revoked
    signer /9zEuhugKdkftkXqsVYwEO57z6xvMhMm9OqymGAbW84=
    root SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=
    policy gjQS0erLZ5ViIOUylZ8BBGAwV8iHBIY8o4580Yj9qBI=
    check app-store revoked
    previous 41
    commitment TZkKe9mFDrAxf/1Uubc0zDHcxu0Plmgrw8AYtdEJHVA=

    """
}
