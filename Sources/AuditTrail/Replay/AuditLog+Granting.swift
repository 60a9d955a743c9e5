// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptVerification

extension AuditLog {
  /// Decides which purchases are granted and records the verdicts, in one step: of any number of requests for one grant,
  /// in one call, in one process or in many, exactly one is granted.
  ///
  /// The trail is asked in the transaction that records the answer, and requests of one call see those before them. A
  /// request that the rules find to be a replay is recorded as invalid, `checker-refused` by `replay`.
  ///
  /// - Parameters:
  ///   - requests: What is to be granted, at most ``Options/maximumWaiting`` at a time.
  ///   - mode: How safe the records are when this returns.
  /// - Returns: For each request what was decided.
  /// - Throws: ``AuditError``: as ``append(_:acknowledgement:)->[AuditAcknowledgement]``. Where this throws, grant nothing; it is not known what was
  ///   recorded, and a request that was recorded as granted is refused as a replay when it is made again.
  public func grant(
    _ requests: [GrantRequest], acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> [GrantDecision] {
    guard !requests.isEmpty else { return [] }
    guard requests.count <= options.maximumWaiting else {
      throw AuditError(.overloaded, "More than \(options.maximumWaiting) requests at a time; make fewer.")
    }
    try requirePublishing()
    if mode == .witnessed { try admitWitnessed() }
    let decisions = try await blocking { log throws(AuditError) in
      let (once, interval) = (log.configuration.once, log.options.flushInterval)
      let decisions = try log.change { writer throws(AuditError) in
        try writer.writeUnsynchronized { state, storage in
          try state.flushIndex(every: interval, in: storage)
          return try state.grant(requests, once: once, in: storage)
        }
      }
      try log.synchronizeAll()
      if mode != .durable { try log.publishCheckpoint() }
      return decisions
    }
    scheduleCheckpoint()
    mergeIndexIfFlushed()
    if mode == .witnessed { try await makeQuorum() }
    return decisions
  }
}

extension TrailState {
  fileprivate mutating func grant(
    _ requests: [GrantRequest], once: TrailConfiguration.OnceWindow, in writer: any StorageWriter
  ) throws -> [GrantDecision] {
    var decisions: [GrantDecision] = []
    for request in requests {
      let view = view(in: writer)
      var verdict = request.verdict
      // A grant to the first customer is entered even where an entry says the same but for the customer, who was erased
      // or not recorded: the next customer must find this one.
      var isFirstOfCustomer = false
      for question in request.questions where verdict.receipt != nil {
        guard let (index, owner) = try view.earlierGrant(question) else {
          if case .customer = question { isFirstOfCustomer = true }
          continue
        }
        if let replay = question.replay(grantedIn: index, to: owner) {
          verdict = verdict.refused(by: "replay", replay)
        }
      }
      let records = PreparedRecord.prepare(request.records(verdict), context.keys.fingerprints)
      var found = try lookUp(records, once: once, in: writer)
      if isFirstOfCustomer, verdict.receipt != nil {
        for number in found.indices { found[number].first = nil }
      }
      let entered = try append(records, found: found, once: once, in: writer)
      decisions.append(GrantDecision(verdict: verdict, acknowledgements: entered))
    }
    return decisions
  }

  /// What the transaction sees of the trail.
  private func view(in writer: any StorageWriter) -> TrailView {
    TrailView(reader: writer, state: PublishedTrail(self, checkpoint: nil), context: context)
  }
}

extension TrailView {
  /// How many entries are held at a time.
  private static let pageSize = 256

  /// An earlier grant that answers a question: of a customer the first that still names one, else the newest.
  ///
  /// - Throws: ``AuditError/Code/tampered``, ``StorageError``.
  fileprivate func earlierGrant(_ question: ReplayQuestion) throws -> (index: UInt64, owner: String?)? {
    var before = UInt64.max
    var owner: (UInt64, String?)?
    while true {
      let page =
        switch question {
        case .receipt(let identity): try entries(receipt: identity, before: before, limit: Self.pageSize)
        case .consumable(.transaction(let transaction)), .customer(.transaction(let transaction), _, _):
          try entries(transaction: transaction, before: before, limit: Self.pageSize)
        case .consumable(.original(let original)), .customer(.original(let original), _, _):
          try history(original: original, before: before, limit: Self.pageSize)
        }
      for recorded in page where recorded.entry.verdict == .valid {
        guard case .customer = question else { return (recorded.index, nil) }
        if let token = try erasablePart(at: recorded.index)?.customerToken { owner = (recorded.index, token) }
      }
      guard let last = page.last, page.count == Self.pageSize else { return owner }
      before = last.index
    }
  }
}
