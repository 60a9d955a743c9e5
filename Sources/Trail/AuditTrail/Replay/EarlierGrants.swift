// SPDX-License-Identifier: Apache-2.0

/// The grants that were found while others write, so that the transaction that decides has to read only newer entries.
struct KnownGrants: Sendable {
  /// The maximum number of entries of one purchase that a transaction reads.
  static let maximumEntryCount = 512

  /// The number of entries of the trail that were searched.
  private(set) var size: UInt64 = 0
  private(set) var answers: [ReplayQuestion: GrantSearch] = [:]

  init() {}

  init(of questions: [ReplayQuestion], in view: TrailView) throws {
    size = view.size
    for question in questions {
      answers[question] = try view.earlierGrant(question, KnownGrants(), longest: .max)
    }
  }
}

enum GrantSearch: Sendable {
  case grant(EarlierGrant)
  case none
  /// There are more entries than may be read.
  case tooLong
}

extension TrailView {
  private static let pageSize = 256

  /// Finds an earlier grant that answers a question: for a customer, the first grant that still names one, else the
  /// newest.
  ///
  /// The entries that were searched for the known grants are not read again, and at most `longest` others are.
  func earlierGrant(_ question: ReplayQuestion, _ known: KnownGrants, longest: Int) throws -> GrantSearch {
    if case .grant(let earlier) = known.answers[question] {
      guard earlier.owner != nil else { return .grant(earlier) }
      // The entry stays, but its customer may have been erased since.
      guard let token = try erasablePart(at: earlier.recorded.index)?.customerToken else { return .tooLong }
      return .grant(EarlierGrant(recorded: earlier.recorded, owner: token))
    }
    let searched = known.answers[question] == nil ? 0 : known.size
    var before = UInt64.max
    var count = 0
    var named: [UInt64] = []
    search: while true {
      let page = try entries(question, in: nil, before: before, limit: Self.pageSize)
      for recorded in page {
        guard recorded.index >= searched else { break search }
        count += 1
        guard count <= longest else { return .tooLong }
        guard recorded.entry.verdict == .valid, question.scope?.mayContain(recorded.entry) != false else {
          continue
        }
        guard case .customer = question else { return .grant(EarlierGrant(recorded: recorded, owner: nil)) }
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

  /// Returns the entries that a question concerns, newest first; those of all scopes without a scope.
  func entries(
    _ question: ReplayQuestion, in scope: PurchaseScope?, before: UInt64 = .max, limit: Int
  ) throws -> [RecordedEntry] {
    switch question {
    case .receipt(let identity): try entries(receipt: identity, before: before, limit: limit)
    case .consumable(.transaction(let transaction), _), .customer(.transaction(let transaction), _, _, _):
      try entries(transaction: transaction, in: scope, before: before, limit: limit)
    case .consumable(.original(let original), _), .customer(.original(let original), _, _, _):
      try history(original: original, in: scope, before: before, limit: limit)
    }
  }
}
