// SPDX-License-Identifier: Apache-2.0

extension TrailWriter {
  /// Catches up with the writes of other processes, and syncs them, since these processes may not have done so yet.
  func refresh() throws(AuditError) {
    try locked { state throws(AuditError) in
      do { try state.refresh() } catch { throw AuditError(error) }
    }
  }
}
