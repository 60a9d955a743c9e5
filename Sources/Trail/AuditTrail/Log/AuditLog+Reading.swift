// SPDX-License-Identifier: Apache-2.0

package import TransparencyLog

extension AuditLog {
  /// Reads a snapshot of the trail.
  ///
  /// It is at least as new as the last append of this process, and as everything that other processes wrote before the
  /// call.
  ///
  /// - Throws: ``AuditError``, and the errors of `body`.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (TrailView) throws -> Result
  ) async throws -> Result {
    try await reader.read(body)
  }

  /// Reads a snapshot of the trail, and blocks the thread; in a task, call ``read(_:)``.
  public func withView<Result>(_ body: (TrailView) throws -> Result) throws -> Result {
    try reader.withView(body)
  }

  package func statistics() throws -> TrailStatistics {
    let stored = try storage.byteCount()
    return try withView { view in
      TrailStatistics(
        entryCount: view.size, checkpointSize: view.checkpoint?.checkpoint.size ?? 0, storedByteCount: stored,
        oldestTime: view.size > 0 ? try view.entry(at: 0).entry.time : nil,
        newestTime: view.size > 0 ? view.state.head.lastTime : nil)
    }
  }

  /// Exports the trail as static files, as far as its newest checkpoint covers it, and blocks meanwhile.
  ///
  /// It removes everything that earlier exports left in the folder and that does not belong to this one, above all
  /// erasable parts. Files of an earlier export are compared with the trail, and written again only if they differ.
  ///
  /// On return, everything is on disk, including removals. The erasable parts that this export does not write are
  /// removed before anything is written. An entry that is erased during the export may still have its part in it, so
  /// export after erasing. Never serve a folder with erasable parts, which only an import needs.
  ///
  /// Nothing is changed if the folder has another log or foreign files (``AuditError/Code/alreadyExists``), a newer or
  /// a different history of this log (``AuditError/Code/rolledBack``, ``AuditError/Code/forked``), or another export is
  /// writing into it (``StorageError/Code/busy``). ``AuditError/Code/storageUnavailable`` means that a part was erased
  /// after the newest checkpoint, so that the export could not record the erasure.
  @discardableResult
  package func export(
    to directory: TileDirectory, includingErasableParts: Bool = false,
    progress: (_ written: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> VerifiedCheckpoint {
    try TileExport(
      reader: reader, storage: storage, keys: context.keys, directory: directory,
      includingErasableParts: includingErasableParts
    ).run(progress: progress)
  }
}

extension AuditLog: AuditLookup {
  package func entries(_ question: ReplayQuestion, limit: Int) async throws -> [RecordedEntry] {
    try await read { try $0.entries(question, in: question.scope, limit: limit) }
  }

  package func customer(at index: UInt64) async throws -> String? {
    try await read { try $0.erasablePart(at: index)?.customerToken }
  }
}
