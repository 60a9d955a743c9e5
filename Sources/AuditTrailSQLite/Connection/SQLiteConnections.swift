// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import SQLiteFiles
  internal import Synchronization

  /// The connections of one open trail: one that writes, one that copies its log, and readers made as they are
  /// needed.
  final class SQLiteConnections: Sendable {
    let file: DatabaseFile
    let tuning: SQLiteTuning
    let writer: DatabaseQueue
    let log: WriteAheadLog
    private let limit: Duration
    private let state = Mutex(State())

    private struct State {
      var idle: [DatabaseQueue] = []
      var lent = 0
      var isClosed = false
    }

    init(file: DatabaseFile, log: DatabaseLog, tuning: SQLiteTuning, writer: DatabaseQueue, limit: Duration)
      throws
    {
      self.file = file
      self.tuning = tuning
      self.writer = writer
      let copier = try SQLiteConnection.copier(file, patience: Patience(limit))
      self.log = WriteAheadLog(log, copier: copier, tuning: tuning)
      self.limit = limit
    }

    /// Lends a reader that nobody else has.
    func withReader<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
      let kept = try state.withLock { state in
        guard !state.isClosed else { throw closed() }
        state.lent += 1
        return state.idle.popLast()
      }
      var reader = kept
      defer { giveBack(reader) }
      let lent = try kept ?? SQLiteConnection.reader(file, tuning: tuning, patience: Patience(limit))
      reader = lent
      return try body(lent)
    }

    private func giveBack(_ reader: DatabaseQueue?) {
      let isLast = state.withLock { state in
        state.lent -= 1
        if let reader, !state.isClosed, state.idle.count < tuning.idleReaders { state.idle.append(reader) }
        return state.isClosed && state.lent == 0
      }
      // Reads that were under way when the storage was closed: the writer goes after the last of them.
      if isLast {
        try? reader?.close()
        try? closeWriting()
      }
    }

    /// Closes now, or when the reads that are under way have ended. SQLite clears its log away when the writer goes
    /// last.
    func close() throws {
      let idle = state.withLock { state -> [DatabaseQueue]? in
        defer { state.idle = [] }
        guard !state.isClosed else { return nil }
        state.isClosed = true
        return state.lent == 0 ? state.idle : []
      }
      guard let idle else { return }
      let isLent = state.withLock { $0.lent > 0 }
      do {
        for reader in idle { try reader.close() }
        if !isLent { try closeWriting() }
      } catch {
        throw SQLiteFault.mapped(error, at: file.path)
      }
    }

    private func closeWriting() throws {
      try log.copier.close()
      try writer.close()
    }

    func requireOpen() throws {
      if state.withLock({ $0.isClosed }) { throw closed() }
    }

    private func closed() -> StorageError { StorageError(.closed, at: file.path, "The trail was closed.") }
  }
#endif
