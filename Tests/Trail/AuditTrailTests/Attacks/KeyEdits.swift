// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import TransparencyLog

@testable import AuditTrail

extension DirectedEdit {
  /// Of the head and the notes.
  static let notes = [
    DirectedEdit("the head without signature", .head) { attack in
      try attack.editHead { $0 = String($0.prefix { $0 != "—" }) }
    },
    DirectedEdit("a field of the head", .head) { attack in
      let field = attack.pick(["size ", "indexed ", "time ", "root ", "index ", "writer ", "configuration "])
      try attack.editHead { $0 = $0.replacing("\n\(field)", with: "\n\(field)1", maxReplacements: 1) }
    },
    DirectedEdit("the head signed by another key", .head) { attack in
      try attack.change(.head) { row in
        let text = try SignedNote(parsing: row).verified(by: [attack.trail.signer.verifierKey]).text
        row = try SignedNote.sign(text, by: [attack.trail.strangerKey]).encoded
      }
    },
    DirectedEdit("an older head", .head) { attack in
      try attack.replace([.head], byThoseOf: attack.pick(attack.trail.earlier))
    },
    DirectedEdit("the head of another trail", .head) { attack in
      try attack.replace([.head], byThoseOf: attack.pick([attack.trail.sibling, attack.trail.stranger]))
    },
    DirectedEdit("the configuration of another trail", .notes) { attack in
      let other = attack.pick([attack.trail.sibling, attack.trail.stranger])
      try attack.rows.put(.notes, 0, try other.stored(.notes, 0) ?? [])
    },
    DirectedEdit("head and configuration of another trail", .notes, .head) { attack in
      try attack.replace([.head, .notes], byThoseOf: attack.trail.sibling)
    },
    DirectedEdit("the stored checkpoint of an earlier time", .notes) { attack in
      try attack.rows.put(.notes, 1, try attack.pick(attack.trail.earlier).stored(.notes, 1) ?? [])
    },
    DirectedEdit("the notes exchanged", .notes) { try $0.swap(.notes, 0, 1) },
  ]

  /// Of what erasable parts are sealed with.
  static let keys = [
    DirectedEdit("the keys zeroed", .keys) {
      try $0.change(.keys) { $0 = [UInt8](repeating: 0, count: $0.count) }
    },
    DirectedEdit("no keys", .keys) { try $0.rows.remove(.keys, in: .min ... .max, erasing: true) },
    DirectedEdit("neither keys nor covers", .keys, .covers) { attack in
      for table in [StorageTable.keys, .covers] {
        try attack.rows.remove(table, in: .min ... .max, erasing: true)
      }
    },
    DirectedEdit("the keys cut", .keys) { try $0.change(.keys) { $0.removeLast(32) } },
    DirectedEdit("two wrapping keys swapped", .keys) { attack in
      try attack.change(.keys, 0) { row in for offset in 0..<32 { row.swapAt(offset, 32 + offset) } }
    },
    DirectedEdit("the wrapping keys of before the erasure", .keys) { try $0.restore([.keys]) },
    DirectedEdit("the covers of before the erasure", .covers) { try $0.restore([.covers]) },
    DirectedEdit("keys and covers of before the erasure", .keys, .covers) {
      try $0.restore([.keys, .covers])
    },
    DirectedEdit("everything erasable of before the erasure", .keys, .covers, .payloads, .personal) {
      attack in
      try attack.restore([.keys, .covers, .payloads, .personal])
    },
    DirectedEdit("a key forgotten that nobody erased", .covers, .keys) { attack in
      let kept = attack.pick([31, 450, 1_790, 2_200, 2_299].map { attack.trail.places[$0] })
      try ErasureKeys.forget([kept], in: attack.rows)
    },
    DirectedEdit("all keys drawn anew", .covers, .keys) { attack in
      for table in [StorageTable.keys, .covers] {
        try attack.rows.remove(table, in: .min ... .max, erasing: true)
      }
      try ErasureKeys.create(in: attack.rows)
    },
    DirectedEdit("a cover removed", .covers) { attack in
      let key = attack.place % 2
      try attack.rows.remove(.covers, in: Int64(key)...Int64(key), erasing: true)
    },
  ]

  /// Of erasable parts with rows of their own.
  static let payloads = [
    DirectedEdit("a payload sealed anew", .payloads) { try $0.resealPayload { $0[40] ^= 1 } },
    DirectedEdit("a payload sealed anew, shorter", .payloads) { try $0.resealPayload { $0.removeLast(9) } },
    DirectedEdit("an empty payload", .payloads) { try $0.change(.payloads) { $0 = [] } },
    DirectedEdit("a payload of another entry", .payloads) { attack in
      let (from, to) = (attack.pick([450, 900, 2_200]), attack.pick([900, 2_200, 450]))
      let row = try attack.rows.value(.payloads, Int64(attack.trail.places[from])) ?? []
      try attack.rows.put(.payloads, Int64(attack.trail.places[to]), row)
    },
  ]
}

extension Attack {
  func editHead(_ edit: (inout String) -> Void) throws {
    try change(.head, 0) { row in
      var text = String(decoding: row, as: UTF8.self)
      edit(&text)
      row = Array(text.utf8)
    }
  }

  /// Puts tables back as they were before the last erasures.
  func restore(_ tables: [StorageTable]) throws {
    guard let before = trail.earlier.last else { return }
    try replace(tables, byThoseOf: before)
  }

  /// Access to the storage includes the keys of erasable parts.
  func resealPayload(_ edit: (inout [UInt8]) -> Void) throws {
    let index = pick([450, 900, 2_200].map { trail.places[$0] })
    var keys = ErasureKeys(rows)
    var cipher = AES256GCM()
    guard let key = try keys.key(of: index), let row = try rows.value(.payloads, Int64(index)),
      var part = cipher.open(row.span, key: key)
    else { throw Refusal() }
    edit(&part)
    var sealed: [UInt8] = []
    cipher.seal(part.span, key: key, nonce: row.span.extracting(0..<AES256GCM.nonceByteCount), into: &sealed)
    try rows.put(.payloads, Int64(index), sealed)
  }
}
