// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptHTTP
import ReceiptHTTPCurl
import Storefront
import Synchronization

/// A proxy between the store's server and the receiver that loses, repeats, damages and delays requests and answers.
/// It lets the sixth request with a notification through, because the App Store makes no more than six attempts.
final class UnreliableWire: Sendable {
  enum Fault: String, CaseIterable {
    /// The connection is closed, and nothing was delivered.
    case lost
    /// Answered 503, and nothing was delivered.
    case unavailable
    /// Delivered, and the connection is closed.
    case answerLost
    /// Delivered, and answered 500.
    case answerReplaced
    /// Delivered, and answered when the sender waits no longer.
    case answerLate
    /// Delivered with another byte.
    case damaged
    /// Delivered twice at the same time.
    case repeated
    /// Accepted, and delivered after later notifications.
    case overtaken
    /// The receiver is killed while it works.
    case killed
  }

  private struct State {
    var random: SeededGenerator
    var isMended = false
    var requests = 0
    var counts: [Fault: Int] = [:]
    /// The number of requests with each notification, by its body. An answer that is right may come too late on a machine
    /// that is busy, so that requests are counted and not failures.
    var attempts: [[UInt8]: Int] = [:]
    /// The notifications that were accepted and not delivered, each with the number of the request after which it is.
    var waiting: [(body: [UInt8], until: Int)] = []
  }

  /// The time that the sender waits for an answer.
  static let timeout: Duration = .seconds(4)

  let receiver: ReceiverProcess
  private let transport = CurlTransport()
  private let state: Mutex<State>
  private let server = Mutex<RecordingServer?>(nil)

  init(to receiver: ReceiverProcess, seed: UInt64) throws {
    self.receiver = receiver
    state = Mutex(State(random: SeededGenerator(seed: seed)))
    let server = try RecordingServer { [unowned self] in self.answer(to: $0.body) }
    self.server.withLock { $0 = server }
  }

  /// The URL that the store sends notifications to.
  var url: String { "http://127.0.0.1:\(server.withLock { $0?.port ?? 0 })/notifications" }
  var requests: Int { state.withLock { $0.requests } }
  var counts: [Fault: Int] { state.withLock { $0.counts } }

  /// Delivers all that waits, in a random order, and does nothing wrong from now on.
  func mend() async {
    let waiting = state.withLock { state in
      state.isMended = true
      defer { state.waiting = [] }
      return state.waiting.shuffled(using: &state.random)
    }
    for (body, _) in waiting { await deliverAtLast(body) }
  }

  func close() {
    server.withLock { $0?.close() }
    transport.shutdown()
  }

  private func answer(to body: [UInt8]) -> [UInt8]? {
    let (fault, ready) = next(for: body)
    let status = Self.wait { await self.status(of: body, fault) } ?? nil
    for body in ready { Self.wait { await self.deliverAtLast(body) } }
    return status.map { RecordingServer.answer($0) }
  }

  /// Returns the fault of a request, and the waiting notifications that are delivered after it.
  private func next(for body: [UInt8]) -> (Fault?, [[UInt8]]) {
    state.withLock { state in
      state.requests += 1
      let now = state.requests
      let ready = state.waiting.filter { $0.until <= now }.map(\.body)
      state.waiting.removeAll { $0.until <= now }
      state.attempts[body, default: 0] += 1
      guard !state.isMended, state.attempts[body, default: 0] <= 5 else { return (nil, ready) }
      let fault: Fault?
      switch now {
      // A few only, which take real time.
      case 40, 140: fault = .answerLate
      case let now where now % 90 == 30: fault = .killed
      // An outage.
      case let now where now % 150 > 138: fault = .unavailable
      default:
        let usual: [Fault] = [
          .lost, .unavailable, .answerLost, .answerReplaced, .damaged, .repeated, .repeated, .overtaken,
          .overtaken,
        ]
        fault =
          Int.random(in: 0..<20, using: &state.random) < 9 ? usual.randomElement(using: &state.random) : nil
      }
      if let fault { state.counts[fault, default: 0] += 1 }
      if fault == .overtaken {
        state.waiting.append((body, now + Int.random(in: 2...40, using: &state.random)))
      }
      return (fault, ready)
    }
  }

  /// The status that the sender gets; `nil` for none.
  private func status(of body: [UInt8], _ fault: Fault?) async -> Int? {
    switch fault {
    case nil: return await deliver(body)
    case .lost: return nil
    case .unavailable: return 503
    case .answerLost:
      _ = await deliver(body)
      return nil
    case .answerReplaced:
      _ = await deliver(body)
      return 500
    case .answerLate:
      let status = await deliver(body)
      try? await Task.sleep(for: Self.timeout + .milliseconds(500))
      return status
    case .damaged:
      var damaged = body
      damaged[body.count / 2] ^= 1
      return await deliver(damaged)
    case .repeated:
      async let first = deliver(body)
      async let second = deliver(body)
      // One of them may find the receiver busy with the other.
      return [await first, await second].compactMap(\.self).min()
    case .overtaken: return 200
    case .killed:
      let pause = state.withLock { Int64.random(in: 0..<12_000, using: &$0.random) }
      async let status = deliver(body)
      try? await Task.sleep(for: .microseconds(pause))
      try? receiver.killAndRestart()
      return await status
    }
  }

  private func deliver(_ body: [UInt8]) async -> Int? {
    let request = RemoteRequest(
      .post, receiver.url, headers: [HTTPHeader("Content-Type", "application/json")], body: body,
      timeout: .seconds(20), maximumResponseByteCount: 1 << 10)
    return try? await transport.send(request).status
  }

  /// Delivers what the sender believes to be delivered.
  private func deliverAtLast(_ body: [UInt8]) async {
    while await deliver(body) != 200 { try? await Task.sleep(for: .milliseconds(10)) }
  }

  /// Waits for asynchronous work, on a thread that may block.
  private static func wait<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value? {
    let (done, value) = (DispatchSemaphore(value: 0), Box<Value>())
    Task {
      let found = await work()
      value.content.withLock { $0 = found }
      done.signal()
    }
    done.wait()
    return value.content.withLock { $0 }
  }

  private final class Box<Value: Sendable>: Sendable {
    let content = Mutex<Value?>(nil)
  }
}
