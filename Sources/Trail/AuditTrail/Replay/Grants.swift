// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Decides which purchases are granted, and records the decisions.
struct Grants: Sendable {
  let writer: TrailWriter
  let reader: Reader
  let publisher: Publisher
  let index: IndexMaintenance
  let rounds: WitnessRounds?
  let maximumCount: Int

  /// The maximum number of times that a history that is too long is read outside the transaction, for one request.
  private static let maximumSearches = 3

  /// Does what ``AuditLog/grant(_:acknowledgement:)`` says.
  func decide(
    _ requests: [GrantRequest], _ mode: AcknowledgementMode
  ) async throws(AuditError) -> [GrantDecision] {
    guard !requests.isEmpty else { return [] }
    guard requests.count <= maximumCount else {
      throw AuditError(.overloaded, "More than \(maximumCount) requests at a time; make fewer.")
    }
    try publisher.requirePublishing()
    let rounds = try rounds.admit(mode)
    let decisions = try await enter(requests, mode)
    publisher.schedule()
    index.mergeIfFlushed()
    try await rounds?.makeQuorum()
    return decisions
  }

  /// Decides and records all requests, in one transaction unless one of them concerns a purchase with a long history.
  private func enter(
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
      let decided = try await BlockingWork.run { [known] () throws(AuditError) in
        let decided = try writer.grant(rest, known, longest: longest)
        guard decided.count == rest.count else { return decided }
        try writer.synchronize()
        if mode != .durable { try publisher.publish() }
        return decided
      }
      decisions += decided
      guard decisions.count < requests.count else { return decisions }
      attempts = decided.isEmpty ? attempts + 1 : 1
      let questions = requests[decisions.count].questions
      do { known = try await reader.read { view in try KnownGrants(of: questions, in: view) } } catch {
        throw AuditError(error)
      }
    }
  }
}
