// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  public import AuditTrail
  internal import Logging

  extension ReceiptObserver {
    /// Appends records in order, each exactly once, and reports their number and the time it took.
    ///
    /// - Parameters:
    ///   - records: The records to append.
    ///   - log: The trail to append to.
    ///   - mode: The durability of the records when this returns.
    /// - Returns: The position of each record.
    /// - Throws: The same `AuditError` as without an observer.
    @discardableResult
    public func append(
      _ records: [AuditRecord], to log: AuditLog, acknowledgement mode: AcknowledgementMode = .durable
    ) async throws(AuditError) -> [AuditAcknowledgement] {
      try await observing { () async throws(AuditError) in
        let acknowledgements = try await log.append(records, acknowledgement: mode)
        return (acknowledgements, acknowledgements)
      }
    }

    /// Decides which purchases are granted and records the verdicts, in one step, and reports the verdicts as they were
    /// recorded.
    ///
    /// - Parameters:
    ///   - requests: The requested grants.
    ///   - log: The trail that decides.
    ///   - mode: The durability of the records when this returns.
    /// - Returns: The decision on each request.
    /// - Throws: The same `AuditError` as without an observer.
    public func grant(
      _ requests: [GrantRequest], by log: AuditLog, acknowledgement mode: AcknowledgementMode = .durable
    ) async throws(AuditError) -> [GrantDecision] {
      try await observing { () async throws(AuditError) in
        let decisions = try await log.grant(requests, acknowledgement: mode)
        for decision in decisions {
          count("audit_grants", [("result", decision.isGranted ? "granted" : "refused")])
        }
        return (decisions, decisions.flatMap(\.acknowledgements))
      }
    }

    /// Logs and counts events that no caller of the trail receives.
    ///
    /// Use it as the `AuditLog.Options.eventHandler`.
    public func report(_ event: AuditLogEvent) {
      switch event {
      case .publishingFailed(let error, let attempts):
        count("audit_publishing_failures", [])
        logger.error(
          "Publishing the trail's checkpoint failed.",
          metadata: ["error": "\(error)", "attempts": "\(attempts)"])
      case .publishingRecovered(let attempts):
        logger.notice(
          "The trail's checkpoint is published again.", metadata: ["failedAttempts": "\(attempts)"])
      }
    }

    /// Records the health of a trail as gauges.
    ///
    /// Call it at intervals, or when metrics are collected.
    public func report(_ health: AuditLogHealth) {
      record("audit_healthy", health.isHealthy ? 1 : 0)
      record("audit_uncheckpointed_entries", Int64(clamping: health.uncheckpointedCount))
      record("audit_uncheckpointed_age_seconds", health.uncheckpointedAge.components.seconds)
    }

    private func observing<Result>(
      _ body: () async throws(AuditError) -> (Result, [AuditAcknowledgement])
    ) async throws(AuditError) -> Result {
      let start = ContinuousClock.now
      do throws(AuditError) {
        let (result, acknowledgements) = try await body()
        let repeats = acknowledgements.count { $0.isRepeat }
        count("audit_appends", by: acknowledgements.count - repeats, [("result", "appended")])
        count("audit_appends", by: repeats, [("result", "repeated")])
        measure("audit_append_duration", ContinuousClock.now - start, [])
        return result
      } catch {
        count("audit_append_failures", [("code", error.code.rawValue)])
        logger.error("Appending to the trail failed.", metadata: ["error": "\(error)"])
        throw error
      }
    }
  }
#endif
