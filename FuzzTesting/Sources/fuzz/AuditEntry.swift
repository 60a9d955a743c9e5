// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCrypto

/// The formats of audit trails. The first byte says what the rest is: 0 an entry, 1 an erasable part, 2 changes to a
/// sample entry, by pairs of position and difference.
func fuzzAuditEntry(_ bytes: [UInt8]) {
  guard let mode = bytes.first else { return }
  var rest = Array(bytes.dropFirst())
  switch mode {
  case 0:
    check(entry: rest)
  case 1:
    guard let part = try? ErasablePart.parse(rest) else { return }
    require(part.encoded == rest, "the erasable part has another spelling")
    require(part.commitment == SHA256Digest(of: rest), "the commitment is of something else")
  case 2:
    var changed = sample
    while rest.count >= 3 {
      let position = (Int(rest[0]) << 8 | Int(rest[1])) % changed.count
      changed[position] ^= rest[2]
      rest.removeFirst(3)
    }
    check(entry: changed)
  default:
    break
  }
}

private func check(entry bytes: [UInt8]) {
  do throws(MalformedEntry) {
    let entry = try AuditEntry(parsing: bytes)
    let again = mustSucceed("what was read cannot be written") { try entry.encoded() }
    require(again == bytes, "the entry has another spelling")
  } catch {
    require(error.offset >= 0 && error.offset <= bytes.count, "the place lies outside")
  }
}

private let sample: [UInt8] = mustSucceed("the sample cannot be made") {
  let digest = SHA256Digest(of: [1])
  let facts = EntryFacts(
    time: 1_759_302_519_101, kind: .verdict, id: "an id", format: "signed-notification",
    notification: "REFUND",
    subtype: "BILLING_RETRY", receipt: digest, encoding: digest, transaction: "2000000001",
    original: "2000000000",
    product: "a product", bundle: "com.example.app", environment: "Production", expires: -1, revoked: 0,
    verdict: .invalid, reason: "revoked", signer: digest, root: digest, policy: digest,
    checks: [
      RecordedCheck(name: "any-of(a, b)", answer: .confirmed), RecordedCheck(name: "a", answer: .failed),
    ],
    erased: 1, size: 2, newest: 3, count: .max)
  return try AuditEntry(facts, previous: 4, commitment: digest).encoded()
}
