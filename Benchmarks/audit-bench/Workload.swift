// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCrypto

/// Verdicts as a busy service records them: each of a receipt of its own; ten to a customer's original transaction on
/// average, in random order; every thousandth of one and the same, so that there is a long history.
struct Workload {
  private var state: UInt64
  private let originals: UInt64
  /// The receipts of records, in turn. One array in all records would have processors wait for each other's counts of
  /// references; one for each takes memory that is no part of what is measured.
  private let receipts = (0..<1024).map { number in
    (0..<430).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
  }
  private(set) var made = 0
  /// `true` if records name customers, who have ten records each.
  var namesCustomers = false

  static let longHistory = "100000000000000"

  init(seed: UInt64, entries: Int) {
    state = seed
    originals = UInt64(max(1, entries / 10))
  }

  /// SplitMix64.
  private mutating func random() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }

  private mutating func digest() -> SHA256Digest {
    var bytes: [UInt8] = []
    for _ in 0..<4 {
      let word = random()
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * shift))) }
    }
    return SHA256Digest(bytes) ?? SHA256Digest(of: bytes)
  }

  private let signer = SHA256Digest([UInt8](repeating: 1, count: 32))
  private let root = SHA256Digest([UInt8](repeating: 2, count: 32))
  private let policy = SHA256Digest([UInt8](repeating: 3, count: 32))

  /// A record of a signed transaction's verdict. Together with what is erasable it makes 1 KB.
  static func original(_ number: UInt64) -> String { "2\(10_000_000_000_000 + number)" }

  mutating func next() -> AuditRecord {
    made += 1
    let original =
      made.isMultiple(of: 1000) ? Self.longHistory : Self.original(random() % originals)
    let facts = EntryFacts(
      time: 1_760_000_000_000 + Int64(made), kind: .verdict, receipt: digest(),
      transaction: "3\(10_000_000_000_000 + made)",
      original: original, product: "com.example.plan.\(random() % 20)", bundle: "com.example.app",
      environment: "Production", verdict: .valid, signer: signer, root: root, policy: policy)
    return AuditRecord(
      facts, receiptBytes: receipts[made % receipts.count],
      customerToken: namesCustomers ? "customer \(random() % originals)" : nil)
  }

  /// The bytes of an entry and its erasable part.
  static func byteCount(_ record: AuditRecord) throws -> Int {
    try AuditEntry(record.facts, previous: 1_000_000, commitment: record.receipt).encoded().count
      + 34 + (record.receiptBytes?.count ?? 0)
  }

  mutating func batch(_ count: Int) -> [AuditRecord] { (0..<count).map { _ in next() } }

  /// A random number below `bound`, for choosing what to look up.
  mutating func choose(below bound: Int) -> Int { Int(random() % UInt64(bound)) }
}
