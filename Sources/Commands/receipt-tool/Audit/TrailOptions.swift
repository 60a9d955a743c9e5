// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
import TransparencyLog

struct TrailFileOptions: ParsableArguments {
  @Option("private-key", "The trail's private key. Default: TRAIL.key.", value: "FILE")
  var privateKey: String?

  @Option("key", "The trail's public key, or a file with it. Default: TRAIL.pub.", value: "KEY|FILE")
  var publicKey: String?

  @Option(
    "checkpoint",
    "The store of the last signed checkpoint: a file, or postgresql://…. Default: TRAIL.checkpoint.",
    value: "FILE|URL",
    discussion: """
      A trail that is older than this checkpoint refuses to open. Keep the
      file out of backups, best on another disk: a restored copy is then
      noticed.
      """)
  var checkpoint: String?
}

struct TrailOptions: ParsableArguments {
  @Argument("The trail: a path, or postgresql://….", value: "trail") var trail: String

  @OptionGroup(title: "Files of the trail") var files: TrailFileOptions

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
    let location = try readOnlyLocation()
    let log = try location.open(writing: false)
    do {
      let result = try body(log)
      try log.close()
      return result
    } catch {
      throw ToolExit.failure(for: error, location.name)
    }
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

/// Options that select one of several purchases with the same identifier: identifiers are unique within an app and an
/// environment.
struct ScopeOptions: ParsableArguments {
  @Option("bundle-id", "Only entries of this app, or that name none.", value: "ID") var bundle: String?

  @Option("environment", "Only entries of this environment, or that name none.")
  var environment: ReceiptEnvironment.Category?

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
