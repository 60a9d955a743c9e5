// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex

extension TrailWriter {
  /// Enters a statement that names the newest entry of an original transaction and counts its entries, and syncs it.
  ///
  /// All of these entries are read and verified first.
  func anchor(_ original: String, at time: Int64) throws(AuditError) -> AuditAcknowledgement {
    try locked { state throws(AuditError) in
      let anchor = try state.write { trail, storage in try trail.anchor(original, at: time, in: storage) }
      try state.synchronize()
      return anchor
    }
  }
}

extension TrailState {
  fileprivate mutating func anchor(
    _ original: String, at time: Int64, in writer: any StorageWriter
  ) throws -> AuditAcknowledgement {
    let line = PurchaseHistory(
      original: original, index: index.snapshot(size: head.size), key: context.keys.fingerprints,
      entries: entries(in: writer))
    var count: UInt64 = 0
    var newest: UInt64?
    try line.forEach { recorded in
      newest = newest ?? recorded.index
      count += 1
      return true
    }
    let anchor = EntryFacts(
      time: time, kind: .anchor, original: original, size: head.size, newest: newest, count: count)
    return try append(own: [AuditRecord(anchor)], in: writer)[0]
  }
}
