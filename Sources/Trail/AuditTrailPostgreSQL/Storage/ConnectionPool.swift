// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail
  internal import Dispatch
  internal import PostgreSQL
  internal import Synchronization

  /// The connections of a storage: one at a time for writing, and a limited number for reading.
  final class ConnectionPool: Sendable {
    enum Purpose { case reading, writing }

    let location: ServerLocation
    let schema: TrailSchema
    let options: PostgreSQLOptions

    private let state = Mutex(State())
    private let readers: DispatchSemaphore
    private let writers = DispatchSemaphore(value: 1)

    private struct State {
      var idle: [ServerConnection] = []
      var usedCount = 0
      var isClosed = false
    }

    init(_ location: ServerLocation, _ options: PostgreSQLOptions) {
      self.location = location
      self.schema = TrailSchema(name: location.schema)
      self.options = options
      self.readers = DispatchSemaphore(value: max(1, options.maximumConnections - 1))
    }

    /// Runs `body` with a connection in pipeline mode, outside of a transaction. Throws `closed`, `busy` if no
    /// connection became free within `lockTimeout`, and connection errors.
    func withConnection<Result>(
      for purpose: Purpose, _ body: (inout ServerConnection) throws -> Result
    ) throws -> Result {
      let semaphore = purpose == .writing ? writers : readers
      try checkOpen()
      guard semaphore.wait(timeout: .now() + .milliseconds(options.lockTimeout.milliseconds)) == .success
      else {
        throw StorageError(
          .busy, at: location.description,
          "All connections of this process for \(purpose) were in use for \(options.lockTimeout); try again.")
      }
      defer { semaphore.signal() }
      var connection = try freeConnection()
      state.withLock { $0.usedCount += 1 }
      defer {
        state.withLock { $0.usedCount -= 1 }
        release(connection)
      }
      return try body(&connection)
    }

    /// Returns an idle connection, or a new one. If the server allows no more, waits for one that is in use.
    private func freeConnection() throws(StorageError) -> ServerConnection {
      let deadline = ContinuousClock.now + options.lockTimeout
      while true {
        try checkOpen()
        while let connection = state.withLock({ $0.idle.popLast() }) {
          // The server may have been restarted in the meantime.
          if !connection.isBroken { return connection }
        }
        do throws(StorageError) {
          return try connect()
        } catch {
          guard [.unavailable, .busy].contains(error.code), .now < deadline else { throw error }
          let next = ContinuousClock.now + .milliseconds(500)
          while state.withLock({ $0.idle.isEmpty }), .now < next {
            guard state.withLock({ $0.usedCount > 0 || !$0.idle.isEmpty }) else { throw error }
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(5))
          }
        }
      }
    }

    /// Opens a new connection that is ready for statements on the trail.
    func connect() throws(StorageError) -> ServerConnection {
      let connection = try ServerConnection.open(location, options)
      try schema.check(on: connection)
      try connection.beginPipeline(
        preparing: schema.statements(writerTimeout: options.writerTimeout), answerLimit: options.answerLimit)
      return connection
    }

    func checkOpen() throws(StorageError) {
      guard !state.withLock({ $0.isClosed }) else {
        throw StorageError(.closed, at: location.description, "The storage was closed.")
      }
    }

    func close() {
      let idle = state.withLock { state in
        state.isClosed = true
        defer { state.idle = [] }
        return state.idle
      }
      // Connections are closed here, outside of the lock.
      _ = consume idle
    }

    func release(_ connection: ServerConnection) {
      guard !connection.isBroken else { return }
      state.withLock { if !$0.isClosed { $0.idle.append(connection) } }
    }
  }
#endif
