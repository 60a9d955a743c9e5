// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto

/// The types of the objects that commands print with `--json`: the value of the first member, `type`.
///
/// `Schemas/receipt-tool` has a schema for each type.
enum OutputType: String {
  case apiResponse = "api-response"
  case auditAcknowledgement = "audit-acknowledgement"
  case auditBackup = "audit-backup"
  case auditCheck = "audit-check"
  case auditCheckpoint = "audit-checkpoint"
  case auditCompleteness = "audit-completeness"
  case auditEntry = "audit-entry"
  case auditErasure = "audit-erasure"
  case auditExport = "audit-export"
  case auditFsck = "audit-fsck"
  case auditImport = "audit-import"
  case auditKey = "audit-key"
  case auditKeyRotation = "audit-key-rotation"
  case auditMigration = "audit-migration"
  case auditPolicy = "audit-policy"
  case auditProof = "audit-proof"
  case auditReindexing = "audit-reindexing"
  case auditRestoredKeys = "audit-restored-keys"
  case auditStatistics = "audit-statistics"
  case auditTrail = "audit-trail"
  case auditWitness = "audit-witness"
  case entitlement
  case error
  case identity
  case inspection
  case pendingPurchase = "pending-purchase"
  case rescindedConsent = "rescinded-consent"
  case signedReceipt = "signed-receipt"
  case store
  case storeFinish = "store-finish"
  case storeInvalidProduct = "store-invalid-product"
  case storeNotification = "store-notification"
  case storeProduct = "store-product"
  case storePurchase = "store-purchase"
  case storeSubscription = "store-subscription"
  case storeTransaction = "store-transaction"
  case token
  case verdict
  case version
}

extension JSONWriter {
  /// Begins an output object with `type` and `version`; ``line()`` ends it.
  init(_ type: OutputType) { self.init(type: type.rawValue) }

  /// Ends an output object, and returns it with a line feed.
  mutating func line() -> [UInt8] {
    endObject()
    endLine()
    return bytes
  }

  /// Writes an optional digest in hexadecimal.
  mutating func member(_ name: String, _ value: SHA256Digest?) { member(name, value?.hexadecimal) }
}
