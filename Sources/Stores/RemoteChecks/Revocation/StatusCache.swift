// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptVerification
internal import Synchronization

/// A cache of certificate statuses, and the requests under way: at most one per certificate and address.
final class StatusCache: Sendable {
  /// The largest number of statuses, more than any store has certificates.
  static let capacity = 256
  /// The time, in seconds, that the status "unknown" is cached: a newly issued certificate may be known soon.
  static let unknownLifetime: Double = 300
  /// The fraction of a status's lifetime after which it is renewed.
  static let refreshPoint = 0.8

  struct Key: Sendable, Hashable {
    let issuer: [UInt8]
    let serialNumber: [UInt8]
    let pointer: RevocationPointer

    init(_ question: RevocationQuestion, _ pointer: RevocationPointer) {
      issuer = question.issuer.sha256Fingerprint
      serialNumber = question.certificate.serialNumber
      self.pointer = pointer
    }
  }

  private struct Entry {
    let status: CertificateStatus
    /// The time at which the status becomes invalid, in seconds since 1970.
    let end: Double
    var refreshAt: Double
    var lastUse: UInt64
  }

  /// A request, and the tasks that await its outcome; a cancelled task stops waiting, and the request goes on.
  private struct Flight {
    let task: Task<Void, Never>
    var waiting: [FirstResult<RevocationOutcome>] = []
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    /// Recent failures; `end` is the elapsed time at which one is forgotten.
    var failures: [Key: (failure: RevocationFailure, end: Duration)] = [:]
    var flights: [Key: Flight] = [:]
    var uses: UInt64 = 0
    var isShutDown = false
  }

  private let state = Mutex(State())
  private let source: RevocationSource
  private let goodChains: GoodChains

  init(source: RevocationSource, goodChains: GoodChains) {
    self.source = source
    self.goodChains = goodChains
  }

  /// Delivers the cached status or failure, or else the outcome of the request under way, which it begins if necessary.
  func find(
    _ question: RevocationQuestion, at pointer: RevocationPointer
  ) -> FirstResult<RevocationOutcome> {
    let first = FirstResult<RevocationOutcome>()
    if let known = find(question, at: pointer, or: first) { first.deliver(known) }
    return first
  }

  /// Returns the cached status or failure, or puts `first` among those that await the request.
  private func find(
    _ question: RevocationQuestion, at pointer: RevocationPointer, or first: FirstResult<RevocationOutcome>
  ) -> RevocationOutcome? {
    let key = Key(question, pointer)
    let now = self.now
    let elapsed = source.caller.time.elapsed()
    return state.withLock { state in
      guard !state.isShutDown else { return .failure(.shutDown) }
      state.uses += 1
      if var entry = state.entries[key] {
        if now < entry.end {
          entry.lastUse = state.uses
          state.entries[key] = entry
          guard now >= entry.refreshAt else {
            return .success(KnownStatus(status: entry.status, freshUntil: entry.refreshAt))
          }
          if state.flights[key] == nil { begin(key, question, pointer, isRefresh: true, &state) }
          // Checks do not wait for the renewal; after a second they look for its result.
          return .success(KnownStatus(status: entry.status, freshUntil: min(entry.end, now + 1)))
        }
        state.entries[key] = nil
      }
      if state.flights[key] == nil {
        if let (failure, end) = state.failures[key] {
          if elapsed < end { return .failure(failure) }
          state.failures[key] = nil
        }
        begin(key, question, pointer, isRefresh: false, &state)
      }
      state.flights[key]?.waiting.append(first)
      return nil
    }
  }

  private func begin(
    _ key: Key, _ question: RevocationQuestion, _ pointer: RevocationPointer, isRefresh: Bool,
    _ state: inout State
  ) {
    let task = Task(priority: isRefresh ? .utility : nil) {
      let answer = await self.source.ask(question, at: pointer)
      self.end(key, question, answer, isRefresh: isRefresh)
    }
    state.flights[key] = Flight(task: task)
  }

  private func end(
    _ key: Key, _ question: RevocationQuestion, _ answer: Result<CertificateStatus, RevocationFailure>,
    isRefresh: Bool
  ) {
    let now = self.now
    let elapsed = source.caller.time.elapsed()
    var waiting: [FirstResult<RevocationOutcome>] = []
    let outcome: RevocationOutcome = state.withLock { state in
      waiting = state.flights[key]?.waiting ?? []
      state.flights[key] = nil
      switch answer {
      case .success(let status):
        state.failures[key] = nil
        return .success(KnownStatus(status: status, freshUntil: keep(status, key, at: now, &state)))
      case .failure(let failure):
        if var entry = state.entries[key], now < entry.end {
          // Leaves about ten more attempts before the status becomes invalid.
          entry.refreshAt = now + max(Self.seconds(source.options.failureHold), (entry.end - now) / 10)
          state.entries[key] = entry
        } else if source.options.failureHold > .zero {
          if state.failures.count >= Self.capacity { state.failures = [:] }
          state.failures[key] = (failure, elapsed + source.options.failureHold)
        }
        return .failure(failure)
      }
    }
    // Chains cached as good may depend on the status that was replaced.
    if case .success = outcome, isRefresh { goodChains.removeAll() }
    if case .failure(let failure) = outcome, isRefresh {
      source.options.report?(
        RevocationOptions.Note(
          subject: .refreshFailed, certificate: question.certificate, message: failure.message))
    }
    for first in waiting { first.deliver(outcome) }
  }

  /// Caches a status, and returns the time at which it will be renewed; `nil` if it must not be cached.
  private func keep(_ status: CertificateStatus, _ key: Key, at now: Double, _ state: inout State) -> Double?
  {
    state.entries[key] = nil
    // The answer may arrive during the shutdown.
    guard let nextUpdate = status.nextUpdate, !state.isShutDown else { return nil }
    var end = min(Double(nextUpdate) + 1, now + Self.seconds(source.options.maximumLifetime))
    if status.standing == .unknown { end = min(end, now + Self.unknownLifetime) }
    guard end > now else { return nil }
    if state.entries.count >= Self.capacity {
      if let leastUsed = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
        state.entries[leastUsed.key] = nil
      }
    }
    let refreshAt = now + (end - now) * Self.refreshPoint
    state.entries[key] = Entry(status: status, end: end, refreshAt: refreshAt, lastUse: state.uses)
    return refreshAt
  }

  /// Cancels all requests, waits for them to end, and begins no more.
  func shutdown() async {
    let tasks = state.withLock { state in
      state.isShutDown = true
      state.entries = [:]
      return state.flights.values.map(\.task)
    }
    goodChains.close()
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  var flightCount: Int { state.withLock { $0.flights.count } }

  var count: Int { state.withLock { $0.entries.count } }

  private var now: Double { source.caller.time.now().millisecondsSince1970 / 1000 }

  private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
}

/// A cache of certificate chains that were found good, each until an instant. It makes every receipt of a signer except
/// the first nearly free to check. A verifier gives every receipt of a signer the same array, so comparing two arrays
/// usually ends at their shared storage.
final class GoodChains: Sendable {
  private struct Entry {
    let certificates: [Certificate]
    let until: Double
  }

  /// The largest number of chains; stores have a handful of signers at a time.
  static let capacity = 64

  private struct State {
    var entries: [Entry] = []
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Returns `true` if the chains of a receipt and of each of its nested parts are good at an instant.
  func contains(_ receipt: VerifiedReceipt, at now: Double) -> Bool {
    state.withLock { state in
      guard Self.contains(receipt.signer.certificates, state.entries, now) else { return false }
      for index in receipt.nested.indices {
        guard Self.contains(receipt.nested[index].signer.certificates, state.entries, now) else {
          return false
        }
      }
      return true
    }
  }

  private static func contains(_ certificates: [Certificate], _ entries: [Entry], _ now: Double) -> Bool {
    for entry in entries where entry.certificates == certificates { return now < entry.until }
    return false
  }

  /// Adds a chain, and evicts the oldest if the cache is full.
  func insert(_ certificates: [Certificate], until: Double) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.entries.removeAll { $0.certificates == certificates }
      if state.entries.count >= Self.capacity { state.entries.removeFirst() }
      state.entries.append(Entry(certificates: certificates, until: until))
    }
  }

  func removeAll() { state.withLock { $0.entries = [] } }

  /// Removes all chains and ignores later insertions.
  func close() { state.withLock { $0 = State(isClosed: true) } }
}
