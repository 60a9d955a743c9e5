// SPDX-License-Identifier: Apache-2.0

#if Server
  package import Entitlements
  internal import ReceiptCodec

  /// A closure that asks a store about a subscription; it returns `nil` if no store can be asked about it.
  package typealias StoreQuestion = @Sendable (StoredEntitlement) async throws -> EntitlementLedger?

  /// The error for a subscription that the store does not know.
  package struct UnknownToStore: Error, Sendable, Hashable, CustomStringConvertible {
    package var description: String { "The store does not know the subscription." }
  }

  extension ServiceEntitlements {
    /// The pause after the first failed request to a store, in seconds, which doubles after each further one.
    ///
    /// During the pause, the subscription belongs to the process that made the request.
    private static let firstPause: Double = 3_600
    /// The longest pause between two requests, in seconds.
    private static let longestPause: Double = 86_400
    /// The maximum number of requests to a store that does not know the subscription.
    static let maximumQuestions = 8

    /// The pause, in seconds, after a failed request that so many others preceded.
    static func pause(afterQuestion questions: Int64) -> Double {
      min(longestPause, firstPause * Double(1 << min(16, max(0, questions))))
    }

    /// Asks a store about silent subscriptions, and merges the answers.
    ///
    /// A subscription is silent if its renewal was due but not reported, or if the store retries the charge and sends
    /// nothing.
    ///
    /// If `ask` throws, the store is asked again after a pause that grows with each request. If it keeps throwing
    /// ``UnknownToStore``, the store is no longer asked.
    ///
    /// - Returns: The number of subscriptions that the store was asked about; `limit` if there may be more.
    @discardableResult
    package func reconcile(
      app: String, limit: Int = 20,
      _ ask: @Sendable (_ app: String, StoredEntitlement) async throws -> EntitlementLedger?
    ) async throws -> Int {
      let now = clock()
      let silent = try await silent(app: app, limit: limit, at: now)
      for (entitlement, questions) in silent {
        guard !Task.isCancelled else { break }
        do {
          if let answer = try await ask(app, entitlement) {
            try await merge(answer, app: app)
          } else {
            try await postpone(entitlement, app: app, until: now.addingSeconds(Self.longestPause))
          }
        } catch is UnknownToStore where questions + 1 >= Self.maximumQuestions {
          try await postpone(entitlement, app: app, until: nil)
        } catch let error as DatabaseError {
          throw error
        } catch {
          continue
        }
      }
      return silent.count
    }

    /// Claims the subscriptions that are due, each until its next request, and returns them with the number of their
    /// earlier requests.
    private func silent(
      app: String, limit: Int, at now: Timestamp
    ) async throws -> [(StoredEntitlement, questions: Int64)] {
      let due = try await database.rows(
        "SELECT 1 FROM ledgers WHERE app = $1 AND reconcile <= $2 LIMIT 1", .text(app),
        .integer(now.milliseconds))
      guard !due.isEmpty else { return [] }
      return try await database.write { session in
        let rows = try session.run(
          """
          SELECT \(StoredEntitlement.columns), questions FROM ledgers WHERE app = $1 AND reconcile <= $2
          ORDER BY reconcile LIMIT $3 \(session.dialect.lockingFreeRows)
          """, .text(app), .integer(now.milliseconds), .integer(Int64(limit)))
        return try rows.map { row in
          let entitlement = try StoredEntitlement(row)
          let questions = row.integer(4)
          try session.run(
            "UPDATE ledgers SET reconcile = $3, questions = $4 WHERE app = $1 AND name = $2", .text(app),
            .text(entitlement.name),
            .integer(now.addingSeconds(Self.pause(afterQuestion: questions)).milliseconds),
            .integer(questions + 1))
          return (entitlement, questions)
        }
      }
    }

    private func postpone(
      _ entitlement: StoredEntitlement, app: String, until instant: Timestamp?
    ) async throws {
      try await database.run(
        "UPDATE ledgers SET reconcile = $3 WHERE app = $1 AND name = $2", .text(app), .text(entitlement.name),
        .integer(instant?.milliseconds))
    }
  }
#endif
