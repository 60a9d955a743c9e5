// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptVerification

extension TrailWriter {
  /// Decides and records requests, in order, up to the first one whose purchase has more than `longest` entries to
  /// read.
  func grant(
    _ requests: ArraySlice<GrantRequest>, _ known: KnownGrants, longest: Int
  ) throws(AuditError) -> [GrantDecision] {
    try locked { state throws(AuditError) in
      try state.write { trail, writer in
        try trail.flushIndex(every: flushInterval, in: writer)
        return try trail.grant(requests, known, longest: longest, in: writer)
      }
    }
  }
}

extension TrailState {
  fileprivate mutating func grant(
    _ requests: ArraySlice<GrantRequest>, _ known: KnownGrants, longest: Int, in writer: any StorageWriter
  ) throws -> [GrantDecision] {
    let once = context.keys.configuration.once
    var decisions: [GrantDecision] = []
    for request in requests {
      let view = TrailView(
        reader: writer, state: PublishedTrail(self, checkpoint: nil), context: context)
      var verdict = request.verdict
      // A grant to the first customer is entered even if an entry differs only in its customer, who was erased or not
      // recorded: the next customer must find this grant.
      var isFirstOfCustomer = false
      for question in request.questions where verdict.receipt != nil {
        switch try view.earlierGrant(question, known, longest: longest) {
        case .tooLong: return decisions
        case .none: if case .customer = question { isFirstOfCustomer = true }
        case .grant(let grant):
          let (index, entry) = (grant.recorded.index, grant.recorded.entry)
          if let replay = question.replay(grantedIn: index, entry, to: grant.owner) {
            verdict = verdict.refused(by: "replay", replay)
          }
        }
      }
      let records = PreparedRecord.records(request.records(verdict), context.keys.fingerprints)
      var found = try search(once, in: writer).find(records)
      if isFirstOfCustomer, verdict.receipt != nil {
        for number in found.indices where found[number].first != nil {
          found[number].first = nil
          // It was not looked up, because the record seemed to be a repeat. Without it, the history would end here, and
          // the earlier owners would be lost.
          guard let original = records[number].fingerprints.original else { continue }
          found[number].previous = try view.state.index.newest(
            .original, original, check: records[number].fingerprints.originalCheck, before: head.size,
            in: IndexRows(base: writer))
        }
      }
      let entered = try append(records, found: found, once: once, in: writer)
      decisions.append(GrantDecision(verdict: verdict, acknowledgements: entered))
    }
    return decisions
  }
}
