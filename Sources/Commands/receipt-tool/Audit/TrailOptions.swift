// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import TransparencyLog

extension TrailOptions {
  var location: TrailLocation {
    TrailLocation(
      trail, privateKey: files.privateKey, publicKey: files.publicKey, checkpoint: files.checkpoint)
  }

  /// The location of the trail, for a command that only reads it.
  func readOnlyLocation() throws -> TrailLocation {
    try refuse(
      ["--private-key": files.privateKey != nil], unless: false, "has no effect: nothing is signed here")
    return location
  }

  /// Opens a snapshot of the trail for reading, without its private key.
  func read<Result>(_ body: (TrailView) throws -> Result) throws -> Result {
    try readLog { try $0.withView(body) }
  }

  /// Opens the trail for reading, without its private key.
  func readLog<Result>(_ body: (AuditLog) throws -> Result) throws -> Result {
    try readOnlyLocation().withLog(body)
  }

  func write<Result>(
    options: AuditLog.Options = AuditLog.Options(), _ body: (AuditLog) async throws -> Result
  ) async throws -> Result {
    let location = location
    let log = try location.open(writing: true, options: options)
    let result: Result
    do {
      result = try await body(log)
    } catch {
      try? log.close()
      throw ToolExit.failure(for: error, location.name)
    }
    do throws(AuditError) { try log.close() } catch {
      let isOfStorage = [.storageFull, .storageUnavailable, .stopped].contains(error.code)
      throw isOfStorage
        ? TrailLocation.checkpointFailure(error, location.name) : ToolExit.failure(for: error, location.name)
    }
    return result
  }
}

extension TrailView {
  /// Warns about entries that no signed checkpoint covers yet: without one, their removal cannot be proven to others.
  func warnOfUncheckpointed(_ indexes: some Sequence<UInt64>) {
    let size = checkpoint?.checkpoint.size ?? 0
    guard let first = indexes.lazy.filter({ $0 >= size }).min() else { return }
    note("receipt-tool: warning: no signed checkpoint covers the entries from \(first) on yet")
  }
}

extension ScopeOptions {
  /// The scope; `nil` if no option is given.
  var scope: PurchaseScope? {
    guard bundle != nil || environment != nil else { return nil }
    return PurchaseScope(bundle: bundle, environment: environment)
  }

  func validate(isByPurchase: Bool, _ needs: String) throws {
    try refuse(
      ["--bundle-id": bundle != nil, "--environment": environment != nil], unless: isByPurchase, needs)
  }
}
