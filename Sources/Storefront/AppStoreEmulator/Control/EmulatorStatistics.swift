// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto
internal import Synchronization

/// Counts of an emulated App Store's requests.
public final class EmulatorStatistics: Sendable {
  /// The counts so far.
  public struct Counts: Sendable, Hashable {
    /// Requests by endpoint: `GET /inApps/v1/transactions/{}`.
    public var requests: [String: Int] = [:]
    /// The number of distinct bearer tokens, valid or not; counted up to 100,000.
    public var distinctTokens = 0
    /// OCSP requests by serial number in hexadecimal.
    public var ocspRequests: [String: Int] = [:]
    /// The number of open connections.
    public var openConnections = 0
    /// The number of all connections so far.
    public var connections = 0

    /// The number of requests to all endpoints.
    public var totalRequests: Int { requests.values.reduce(0, +) }
  }

  private struct State: Sendable {
    var counts = Counts()
    /// SHA-256 digests, so that no secrets are kept.
    var tokens: Set<[UInt8]> = []
  }

  private static let mostTokens = 100_000

  private let state = Mutex(State())

  /// Creates statistics with all counts 0.
  public init() {}

  /// The counts so far.
  public var counts: Counts { state.withLock { $0.counts } }

  /// Resets all counts except that of open connections.
  public func reset() {
    state.withLock { state in
      let open = state.counts.openConnections
      state = State()
      state.counts.openConnections = open
    }
  }

  /// Counts an opened connection.
  public func connectionOpened() {
    state.withLock {
      $0.counts.openConnections += 1
      $0.counts.connections += 1
    }
  }

  /// Counts a closed connection.
  public func connectionClosed() { state.withLock { $0.counts.openConnections -= 1 } }

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

  var json: JSONValue {
    let counts = counts
    func object(_ counts: [String: Int]) -> JSONValue {
      .object(
        counts.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: .integer(Int64($0.value))) })
    }
    return .members(
      ("requests", object(counts.requests)), ("totalRequests", .integer(Int64(counts.totalRequests))),
      ("distinctTokens", .integer(Int64(counts.distinctTokens))),
      ("ocspRequests", object(counts.ocspRequests)),
      ("openConnections", .integer(Int64(counts.openConnections))),
      ("connections", .integer(Int64(counts.connections))))
  }
}
