// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import NIOCore
  internal import Synchronization

  /// The open client connections, limited by the file descriptors.
  ///
  /// When few places are left, connections whose client keeps the server waiting are closed, oldest first. Clients that
  /// open connections and send nothing therefore do not lock out others.
  package final class OpenConnections: Sendable {
    /// The event that asks a connection to close if its client keeps the server waiting.
    struct Scarcity: Sendable {}

    private struct State {
      var channels: [Int: any Channel] = [:]
      /// The connections by the time when they were last asked, oldest first; it may contain closed ones.
      var order = CircularBuffer<Int>()
      var next = 0
      var isAsking = false
    }

    package let maximum: Int
    /// The number of places to keep free, by closing connections if necessary.
    private let reserve: Int
    /// The number of connections that are asked at a time, since each takes time on its event loop.
    private static let askedAtOnce = 64
    private let state = Mutex(State())

    package init(maximum: Int) {
      self.maximum = maximum
      reserve = min(32, max(1, maximum / 8))
    }

    package var count: Int { state.withLock { $0.channels.count } }

    func add(_ channel: any Channel) -> Int {
      let id = state.withLock { state in
        defer { state.next += 1 }
        state.channels[state.next] = channel
        state.order.append(state.next)
        return state.next
      }
      makeRoom(on: channel.eventLoop)
      return id
    }

    func remove(_ id: Int) {
      state.withLock { state in
        state.channels[id] = nil
        // Remove closed connections: otherwise the list would grow for as long as one connection stays open.
        if state.order.count > 2 * state.channels.count + 64 {
          state.order = CircularBuffer(state.order.filter { state.channels[$0] != nil })
        }
      }
    }

    /// Asks connections to close while too few places are free, a batch every 100 ms.
    private func makeRoom(on eventLoop: any EventLoop, again: Bool = false) {
      let asked = state.withLock { state -> [any Channel] in
        guard again || !state.isAsking else { return [] }
        state.isAsking = state.channels.count > maximum - reserve
        return state.isAsking ? Self.asked(&state) : []
      }
      guard !asked.isEmpty else { return }
      for channel in asked { channel.pipeline.fireUserInboundEventTriggered(Scarcity()) }
      eventLoop.scheduleTask(in: .milliseconds(100)) { [self] in makeRoom(on: eventLoop, again: true) }
    }

    private static func asked(_ state: inout State) -> [any Channel] {
      var asked: [any Channel] = []
      for _ in 0..<min(state.order.count, askedAtOnce) {
        guard let id = state.order.popFirst(), let channel = state.channels[id] else { continue }
        state.order.append(id)
        asked.append(channel)
      }
      return asked
    }
  }
#endif
