// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto
internal import Synchronization

/// Counts of an emulated App Store's requests.
package final class EmulatorStatistics: Sendable {
  private struct State: Sendable {
    var counts = Counts()
    /// SHA-256 digests, so that no secrets are kept.
    var tokens: Set<[UInt8]> = []
  }

  private static let mostTokens = 100_000

  private let state = Mutex(State())

  package init() {}

  package var counts: Counts { state.withLock { $0.counts } }

  /// Resets all counts except that of open connections.
  package func reset() {
    state.withLock { state in
      let open = state.counts.openConnections
      state = State()
      state.counts.openConnections = open
    }
  }

  package func connectionOpened() {
    state.withLock {
      $0.counts.openConnections += 1
      $0.counts.connections += 1
    }
  }

  package func connectionClosed() { state.withLock { $0.counts.openConnections -= 1 } }

  package func count(_ endpoint: String, authorization: String?) {
    let token = authorization.map { Digest.hash(Array($0.utf8), using: .sha256) }
    state.withLock { state in
      state.counts.requests[endpoint, default: 0] += 1
      guard let token, state.tokens.count < Self.mostTokens else { return }
      if state.tokens.insert(token).inserted { state.counts.distinctTokens += 1 }
    }
  }

  func countOCSP(serialNumber: String) {
    state.withLock { $0.counts.ocspRequests[serialNumber, default: 0] += 1 }
  }

  var json: JSONMembers {
    let counts = counts
    func sorted(_ counts: [String: Int]) -> JSONMembers {
      JSONMembers(counts.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: $0.value.json) })
    }
    return [
      "requests": sorted(counts.requests), "totalRequests": counts.totalRequests,
      "distinctTokens": counts.distinctTokens, "ocspRequests": sorted(counts.ocspRequests),
      "openConnections": counts.openConnections, "connections": counts.connections,
    ]
  }
}

extension EmulatorStatistics.Counts {
  package var totalRequests: Int { requests.values.reduce(0, +) }
}
