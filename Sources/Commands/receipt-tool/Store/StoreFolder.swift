// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import ReceiptBytes
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification
import Storefront
import StorefrontSQLite
import Synchronization

extension StoreFolder {
  /// Opens the store.
  func open() throws -> OpenStore {
    addToInputs()
    // A folder without settings is no store.
    _ = try settings()
    let identity: SigningIdentity
    do throws(SigningError) {
      identity = try IdentityDirectory(path).load { note("receipt-tool: \($0)") }
    } catch {
      throw ToolExit.failure(ToolExit.code(for: error), error.description, code: error.code.rawValue)
    }
    let catalog = try catalog()
    do {
      let storage = try Self.storage(ledgerFile, creating: false)
      do {
        // Only one process has the storage open, so that nobody changes the settings from here on.
        let settings = StoredSettings(try settings(), in: settingsFile)
        let store = try LocalStore(
          catalog: catalog, identity: identity, storage: storage, options: settings.current.options(),
          clock: { settings.now })
        return OpenStore(folder: self, settings: settings, store: store, storage: storage)
      } catch {
        try? storage.close()
        throw error
      }
    } catch {
      throw Self.failure(error)
    }
  }

  /// No output may replace a file of the store.
  private func addToInputs() {
    CommandInputs.add(identity: path)
    CommandInputs.add(paths: [settingsFile, ownCatalogFile, storeKitCatalogFile])
    let names = (try? FileSystem.names(in: path)) ?? []
    let queues = names.filter { $0.hasPrefix("queue-") }.map { "\(path)/\($0)" }
    for database in [ledgerFile, playLedgerFile] + queues { CommandInputs.add(database: database) }
  }

  func settings() throws -> StoreSettings {
    let file = try InputFile.contents(of: settingsFile, limit: 1 << 20)
    do throws(MalformedReceipt) {
      return try StoreSettings(decoding: file)
    } catch {
      throw ToolExit.failure(ToolExit.unreadableInput, "\(settingsFile): \(error)")
    }
  }

  func catalog() throws -> ProductCatalog {
    let isStoreKit = NewFile.exists(storeKitCatalogFile)
    let path = isStoreKit ? storeKitCatalogFile : ownCatalogFile
    return try Self.catalog(InputFile.contents(of: path, limit: 64 << 20), isStoreKit: isStoreKit, path: path)
  }

  static func catalog(_ contents: [UInt8], isStoreKit: Bool, path: String) throws -> ProductCatalog {
    do throws(CatalogError) {
      return try catalog(contents, isStoreKit: isStoreKit)
    } catch {
      throw ToolExit.failure(ToolExit.unreadableInput, "\(path): \(error)")
    }
  }

  static func storage(_ path: String, creating: Bool) throws -> any RecordStorage {
    return creating
      ? try SQLiteRecordStorage(at: path) : try SQLiteRecordStorage(openingAt: path)
  }

  /// The exit code and message for an error of the store.
  static func failure(_ error: any Error) -> any Error { ToolExit.failure(for: error) }
}

/// The settings of an open store, which nobody else changes. They have the store's clock.
final class StoredSettings: Sendable {
  private let path: String
  private let settings: Mutex<StoreSettings>

  init(_ settings: StoreSettings, in path: String) {
    self.path = path
    self.settings = Mutex(settings)
  }

  var current: StoreSettings { settings.withLock { $0 } }

  /// The store's time.
  var now: Timestamp { SystemClock.now().addingSeconds(current.clockOffset / 1000) }

  /// Sets the clock forward, and says whose charges fail; then writes the settings.
  func set(time: Timestamp? = nil, billingIssueOf account: String?) throws(ExitCode) {
    var changed = current
    changed.billingIssueOf = account
    if let time, time > now {
      changed.clockOffset = time.millisecondsSince1970 - SystemClock.now().millisecondsSince1970
    }
    guard changed != current else { return }
    try NewFile.replaceOwn(path, by: changed.encoded())
    settings.withLock { $0 = changed }
  }
}

/// An open store.
struct OpenStore {
  let folder: StoreFolder
  let settings: StoredSettings
  let store: LocalStore
  let storage: any RecordStorage

  /// The payment queue of a customer, created on first use.
  func queue(_ account: String) throws -> PaymentQueue {
    var options = PaymentQueue.Options()
    options.checksRegistration = false
    do {
      return try PaymentQueue(
        store: store.session(account: account),
        storage: StoreFolder.storage(folder.queueFile(account), creating: true), options: options)
    } catch {
      throw StoreFolder.failure(error)
    }
  }

  /// Ends what a process began that failed, or was killed, while it advanced the clock: the clock shows at least the time
  /// of the last event, and charges succeed again.
  func endAdvance() async throws {
    if let account = settings.current.billingIssueOf {
      try await store.perform(.setBillingIssue(false, of: account))
    }
    let reached = try await store.lastEventDate()
    try settings.set(
      time: reached > settings.now.addingSeconds(Self.tolerance) ? reached : nil, billingIssueOf: nil)
  }

  /// Events of one millisecond are dated one after the other, so that the last may be a little later than the clock.
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
      throw StoreFolder.failure(error)
    }
  }

  /// The same with the customer's queue, after synchronizing it.
  static func withQueue<Result>(
    _ options: StoreOptions, _ body: (OpenStore, PaymentQueue) async throws -> Result
  ) async throws -> Result {
    try await with(options.folder) { open in
      let queue = try open.queue(options.account)
      do {
        let result = try await body(open, queue)
        // Send finishes to the store.
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
