// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification
import Storefront
import StorefrontSQLite
import Synchronization

extension StoreFolder {
  func open() throws -> OpenStore {
    addToInputs()
    // A folder without settings is not a store.
    _ = try settings()
    let identity = try IdentityDirectory(path).load { note("receipt-tool: \($0)") }
    let catalog = try catalog()
    let storage = try SQLiteRecordStorage(openingAt: ledgerFile)
    do {
      // Only one process can have the storage open, so no other process changes the settings from here on.
      let settings = StoredSettings(try settings(), in: settingsFile)
      let store = try LocalStore(
        catalog: catalog, identity: identity, storage: storage, options: settings.current.options(),
        clock: { settings.now })
      return OpenStore(folder: self, settings: settings, store: store, storage: storage)
    } catch {
      try? storage.close()
      throw error
    }
  }

  /// Marks the store's files as inputs, so that no output replaces one of them.
  private func addToInputs() {
    CommandInputs.add(identity: path)
    CommandInputs.add(paths: [settingsFile, ownCatalogFile, storeKitCatalogFile])
    let names = (try? FileSystem.names(in: path)) ?? []
    let queues = names.filter { $0.hasPrefix("queue-") }.map { "\(path)/\($0)" }
    for database in [ledgerFile, playLedgerFile] + queues { CommandInputs.add(database: database) }
  }

  func settings() throws -> StoreSettings {
    let file = try InputFile.contents(of: settingsFile, limit: 1 << 20)
    return try ToolExit.reading(orElse: settingsFile) { try StoreSettings(decoding: file) }
  }

  func catalog() throws -> ProductCatalog {
    let isStoreKit = NewFile.exists(storeKitCatalogFile)
    let path = isStoreKit ? storeKitCatalogFile : ownCatalogFile
    return try Self.catalog(InputFile.contents(of: path, limit: 64 << 20), isStoreKit: isStoreKit, path: path)
  }

  static func catalog(_ contents: [UInt8], isStoreKit: Bool, path: String) throws -> ProductCatalog {
    try ToolExit.reading(orElse: path) { try catalog(contents, isStoreKit: isStoreKit) }
  }
}

/// The settings of an open store, which no other process changes. They include the store's clock.
final class StoredSettings: Sendable {
  private let path: String
  private let settings: Mutex<StoreSettings>

  init(_ settings: StoreSettings, in path: String) {
    self.path = path
    self.settings = Mutex(settings)
  }

  var current: StoreSettings { settings.withLock { $0 } }

  var now: Timestamp { SystemClock.now().addingSeconds(current.clockOffset / 1000) }

  /// Sets the clock forward, and sets the account whose charges fail; then writes the settings.
  func set(time: Timestamp? = nil, billingIssueOf account: String?) throws(ExitCode) {
    var changed = current
    changed.billingIssueOf = account
    if let time, time > now {
      changed.clockOffset = time.millisecondsSince1970 - SystemClock.now().millisecondsSince1970
    }
    guard changed != current else { return }
    try NewFile.write(changed.encoded(), to: path, overwriting: true, isOwn: true)
    settings.withLock { $0 = changed }
  }
}

struct OpenStore {
  let folder: StoreFolder
  let settings: StoredSettings
  let store: LocalStore
  let storage: any RecordStorage

  /// The payment queue of a customer, created on first use.
  func queue(_ account: String) throws -> PaymentQueue {
    var options = PaymentQueue.Options()
    options.checksRegistration = false
    return try PaymentQueue(
      store: store.session(account: account), storage: SQLiteRecordStorage(at: folder.queueFile(account)),
      options: options)
  }

  /// Completes an advance of the clock that failed, or whose process was killed. Afterwards the clock shows at least
  /// the time of the last event, and charges succeed again.
  func endAdvance() async throws {
    if let account = settings.current.billingIssueOf {
      try await store.perform(.setBillingIssue(false, of: account))
    }
    let reached = try await store.lastEventDate()
    try settings.set(
      time: reached > settings.now.addingSeconds(Self.tolerance) ? reached : nil, billingIssueOf: nil)
  }

  /// The number of seconds that the last event may be ahead of the clock: events of the same millisecond get
  /// consecutive times.
  private static let tolerance: Double = 1

  /// Opens a store, runs an operation and closes it.
  static func with<Result>(
    _ folder: StoreFolder, _ body: (OpenStore) async throws -> Result
  ) async throws -> Result {
    let open = try folder.open()
    do {
      try await open.endAdvance()
      let result = try await body(open)
      try open.storage.close()
      return result
    } catch {
      try? open.storage.close()
      throw error
    }
  }

  /// Opens a store and a customer's queue, runs an operation, synchronizes the queue and closes both.
  static func withQueue<Result>(
    _ options: StoreOptions, _ body: (OpenStore, PaymentQueue) async throws -> Result
  ) async throws -> Result {
    try await with(options.folder) { open in
      let queue = try open.queue(options.account)
      do {
        let result = try await body(open, queue)
        // Synchronizing sends finished transactions to the store.
        try await queue.synchronize()
        try await queue.close()
        return result
      } catch {
        try? await queue.close()
        throw error
      }
    }
  }
}

extension StoreFolderOptions {
  var folder: StoreFolder { StoreFolder(directory) }
}

extension StoreOptions {
  var account: String { namedAccount ?? "customer" }
  var directory: String { store.directory }
  var folder: StoreFolder { store.folder }

  func validate() throws {
    let isAllowed = account.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0 || ".-_".unicodeScalars.contains($0))
    }
    guard isAllowed, 1...64 ~= account.utf8.count else {
      throw ValidationError("--account takes 1 to 64 letters, digits, dots, hyphens and underscores.")
    }
  }
}
