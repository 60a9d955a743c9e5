// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import Synchronization
internal import TransparencyLog

final class Reader: Sendable {
  private let writer: TrailWriter
  private let verifiedHead: Mutex<SignedHead>

  init(_ writer: TrailWriter) {
    self.writer = writer
    verifiedHead = Mutex(writer.states.written.signed)
  }

  func read<Result: Sendable>(_ body: @escaping @Sendable (TrailView) throws -> Result) async throws -> Result
  {
    try await BlockingWork.run { try self.withView(body) }
  }

  /// Reads a snapshot that is at least as new as everything that was shown or written before the call.
  func withView<Result>(_ body: (TrailView) throws -> Result) throws -> Result {
    let (states, context) = (writer.states, writer.context)
    var attempts = 0
    while true {
      attempts += 1
      // The state of the readers comes first: the stored state can then only be newer.
      let state = states.published
      let result: Result? = try writer.storage.read { reader in
        let stored = try context.keys.stored(in: reader, known: verifiedHead.withLock { $0 })
        verifiedHead.withLock { $0 = stored }
        guard stored.head.isSameTree(as: state.head) || isOwn(stored.head, after: state.head) else {
          return nil
        }
        var state = state
        state.index = try state.index.refreshed(to: stored.head.indexRoot, in: IndexRows(base: reader))
        return try body(TrailView(reader: reader, state: state, context: context))
      }
      if let result { return result }
      guard attempts < 100 else {
        throw AuditError(.storageUnavailable, "The trail changes faster than it can be read; try again.")
      }
      // There is nothing to read if this process has shown a newer state meanwhile.
      if states.published.head == state.head { try writer.refresh() }
    }
  }

  /// Returns `true` if this opened trail wrote everything beyond `head`, and so will show it as soon as it is durable.
  private func isOwn(_ stored: TrailHead, after head: TrailHead) -> Bool {
    stored.size > head.size && stored.writer.writer == writer.context.writer
      && stored.writer.from <= head.size
  }
}
