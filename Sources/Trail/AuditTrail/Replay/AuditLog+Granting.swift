// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension AuditLog {
  /// Decides which purchases are granted and records the verdicts, in one step.
  ///
  /// Of any number of requests for the same grant, in one call, in one process or in many, exactly one is granted.
  ///
  /// The trail is searched in the transaction that records the decision, and each request of a call sees those before
  /// it. A request that is a replay according to the rules is recorded as invalid, `checker-refused` by `replay`.
  ///
  /// - Parameters:
  ///   - requests: The requests, at most ``Options/maximumWaiting`` at a time.
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
    try publisher.requirePublishing()
    let rounds = try rounds.admit(mode)
    let decisions = try await decide(requests, mode)
    publisher.schedule()
    index.mergeIfFlushed()
    try await rounds?.makeQuorum()
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
      let decided = try await BlockingWork.run { [self, known] () throws(AuditError) in
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
      do { known = try await read { view in try KnownGrants(of: questions, in: view) } } catch {
        throw AuditError(error)
      }
    }
  }

  /// The maximum number of times that a history that is too long is read outside the transaction, for one request.
  private static let maximumSearches = 3
}
