// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptVerification

extension AuditLog {
  /// Decides which purchases are granted and records the verdicts, in one step.
  ///
  /// Of any number of requests for the same grant, in one call, in one process or in many, exactly one is granted.
  ///
  /// The trail is searched in the transaction that records the decision, and each request of a call sees those before
  /// it. A request that is a replay according to the rules is recorded as invalid, `checker-refused` by `replay`.
  ///
  /// - Parameters:
  ///   - requests: The requests, at most 16,384 at a time.
  ///   - mode: The condition that the records meet when this returns.
  /// - Returns: One decision for each request, in order.
  /// - Throws: ``AuditError``: as ``append(_:acknowledgement:)->[AuditAcknowledgement]``. If this throws, grant
  ///   nothing. It is unknown what was recorded, and a request that was recorded as granted is refused as a replay when
  ///   it is made again.
  public func grant(
    _ requests: [GrantRequest], acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> [GrantDecision] {
    guard !requests.isEmpty else { return [] }
    guard requests.count <= options.maximumWaiting else {
      throw AuditError(.overloaded, "More than \(options.maximumWaiting) requests at a time; make fewer.")
    }
    try requirePublishing()
    if mode == .witnessed { try admitWitnessed() }
    let decisions = try await decide(requests, mode)
    scheduleCheckpoint()
    mergeIndexIfFlushed()
    if mode == .witnessed { try await makeQuorum() }
    return decisions
  }

  /// Decides and records all requests, in one transaction unless one of them concerns a purchase with a long history.
  private func decide(
    _ requests: [GrantRequest], _ mode: AcknowledgementMode
  ) async throws(AuditError) -> [GrantDecision] {
    var decisions: [GrantDecision] = []
    var known = KnownGrants()
    var attempts = 0
    while true {
      let rest = requests[decisions.count...]
      // If the owners of a purchase are erased again and again during the search, the transaction reads all of its
      // history.
      let isBounded = attempts < Self.maximumSearches
      let longest = isBounded ? KnownGrants.maximumEntryCount : .max
      if !isBounded { known = KnownGrants() }
      let decided = try await blocking { [known] log throws(AuditError) in
        let (once, interval) = (log.configuration.once, log.options.flushInterval)
        let decided = try log.change { writer throws(AuditError) in
          try writer.writeUnsynchronized { state, storage in
            try state.flushIndex(every: interval, in: storage)
            return try state.grant(rest, known, longest: longest, once: once, in: storage)
          }
        }
        guard decided.count == rest.count else { return decided }
        try log.synchronizeAll()
        if mode != .durable { try log.publishCheckpoint() }
        return decided
      }
      decisions += decided
      guard decisions.count < requests.count else { return decisions }
      attempts = decided.isEmpty ? attempts + 1 : 1
      let questions = requests[decisions.count].questions
      do { known = try await read { view in try KnownGrants(of: questions, in: view) } } catch {
        throw AuditError(error)
      }
    }
  }

  /// The maximum number of times that a history that is too long is read outside the transaction, for one request.
  private static let maximumSearches = 3
}

/// The grants that answer questions about purchases with long histories.
///
/// They are found outside the transaction that decides, while others write, so that the transaction has to read only
/// newer entries.
private struct KnownGrants: Sendable {
  /// The maximum number of entries of one purchase that a transaction reads.
  static let maximumEntryCount = 512

  private var size: UInt64 = 0
  private var answers: [ReplayQuestion: GrantSearch] = [:]

  init() {}

  init(of questions: [ReplayQuestion], in view: TrailView) throws {
    size = view.size
    for question in questions {
      answers[question] = try view.earlierGrant(question, KnownGrants(), longest: .max)
    }
  }

  /// Returns the grant that was found.
  func grant(_ question: ReplayQuestion) -> EarlierGrant? {
    guard case .grant(let grant) = answers[question] else { return nil }
    return grant
  }

  /// Returns the number of entries of the trail that were searched for an answer.
  func searchedCount(_ question: ReplayQuestion) -> UInt64 { answers[question] == nil ? 0 : size }
}

/// An entry that recorded a grant.
private struct EarlierGrant: Sendable {
  let recorded: RecordedEntry
  /// The customer of the grant, if the question is about one.
  let owner: String?
}

/// The result of searching for an earlier grant.
private enum GrantSearch: Sendable {
  case grant(EarlierGrant)
  case none
  /// There are more entries than may be read.
  case tooLong
}

extension TrailState {
  /// Decides and records requests in order.
  ///
  /// It stops before the first request whose purchase has too long a history.
  fileprivate mutating func grant(
    _ requests: ArraySlice<GrantRequest>, _ known: KnownGrants, longest: Int,
    once: TrailConfiguration.OnceWindow, in writer: any StorageWriter
  ) throws -> [GrantDecision] {
    var decisions: [GrantDecision] = []
    for request in requests {
      let view = view(in: writer)
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
      let records = PreparedRecord.prepare(request.records(verdict), context.keys.fingerprints)
      var found = try lookUp(records, once: once, in: writer)
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

  /// Returns the trail as the transaction sees it.
  private func view(in writer: any StorageWriter) -> TrailView {
    TrailView(reader: writer, state: PublishedTrail(self, checkpoint: nil), context: context)
  }
}

extension TrailView {
  /// The number of entries that are in memory at a time.
  private static let pageSize = 256

  /// Finds an earlier grant that answers a question: for a customer, the first grant that still names one, else the
  /// newest.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - known: The grants that were found before; the entries that were searched for them are not read again.
  ///   - longest: The maximum number of entries to read.
  /// - Returns: The grant, if there is one, or that there are more entries than may be read.
  /// - Throws: ``AuditError/Code/tampered``, ``StorageError``.
  fileprivate func earlierGrant(
    _ question: ReplayQuestion, _ known: KnownGrants, longest: Int
  ) throws -> GrantSearch {
    if let earlier = known.grant(question) {
      guard earlier.owner != nil else { return .grant(earlier) }
      // The entry stays, but its customer may have been erased since.
      guard let token = try erasablePart(at: earlier.recorded.index)?.customerToken else { return .tooLong }
      return .grant(EarlierGrant(recorded: earlier.recorded, owner: token))
    }
    let searched = known.searchedCount(question)
    var before = UInt64.max
    var count = 0
    var named: [UInt64] = []
    search: while true {
      let page = try entries(question, before: before)
      for recorded in page {
        guard recorded.index >= searched else { break search }
        count += 1
        guard count <= longest else { return .tooLong }
        guard recorded.entry.verdict == .valid, question.scope?.mayContain(recorded.entry) != false else {
          continue
        }
        guard case .customer = question else {
          return .grant(EarlierGrant(recorded: recorded, owner: nil))
        }
        if recorded.entry.commitment != nil { named.append(recorded.index) }
      }
      guard let last = page.last, page.count == Self.pageSize else { break }
      before = last.index
    }
    // The oldest entry that still names its customer. All others may be newer grants to the same customer, and are not
    // decrypted.
    for index in named.reversed() {
      guard let token = try erasablePart(at: index)?.customerToken else { continue }
      return .grant(EarlierGrant(recorded: try entry(at: index), owner: token))
    }
    return .none
  }

  /// Returns a page of the entries that a question concerns, newest first, including those of other scopes.
  private func entries(_ question: ReplayQuestion, before: UInt64) throws -> [RecordedEntry] {
    switch question {
    case .receipt(let identity): try entries(receipt: identity, before: before, limit: Self.pageSize)
    case .consumable(.transaction(let transaction), _), .customer(.transaction(let transaction), _, _, _):
      try entries(transaction: transaction, before: before, limit: Self.pageSize)
    case .consumable(.original(let original), _), .customer(.original(let original), _, _, _):
      try history(original: original, before: before, limit: Self.pageSize)
    }
  }
}
