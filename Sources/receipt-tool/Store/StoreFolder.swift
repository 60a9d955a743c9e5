// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification
import Storefront
import StorefrontSQLite

extension StoreFolder {
  /// Opens the store.
  func open() throws -> OpenStore {
    let settings = try settings()
    let identity: SigningIdentity
    do throws(SigningError) {
      identity = try IdentityDirectory(path).load { note("receipt-tool: \($0)") }
    } catch {
      throw ToolExit.failure(ToolExit.code(for: error), error.description, code: error.code.rawValue)
    }
    let catalog = try catalog()
    do {
      let storage = try Self.storage(ledgerFile, creating: false)
      let store = try LocalStore(
        catalog: catalog, identity: identity, storage: storage, options: settings.options(),
        clock: settings.clock)
      return OpenStore(folder: self, settings: settings, store: store, storage: storage)
    } catch {
      throw Self.failure(error)
    }
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
  static func failure(_ error: any Error) -> any Error {
    switch error {
    case let error as LocalStoreError:
      let code: ExitCode =
        switch error.code {
        case .notFound, .refused: ToolExit.invalid
        case .storage: ToolExit.inputOutput
        case .corrupt, .signing, .invalidOption: ToolExit.unreadableInput
        }
      return ToolExit.failure(code, error.description, code: error.code.rawValue)
    case let error as RecordStorageError:
      let code: ExitCode =
        switch error.code {
        case .notFound, .notAStorage, .corrupt, .unsupported: ToolExit.unreadableInput
        case .full, .busy, .inputOutput, .syncFailed, .closed: ToolExit.inputOutput
        }
      return ToolExit.failure(code, error.description, code: error.code.rawValue)
    case let error as PaymentQueueError:
      if let fault = error.storageError { return failure(fault) }
      return ToolExit.failure(ToolExit.invalid, error.description, code: error.code.rawValue)
    case let error as StoreError: return ToolExit.failure(ToolExit.invalid, error.description)
    default: return error
    }
  }
}

extension StoreSettings {
  /// The store's clock.
  var clock: @Sendable () -> Timestamp {
    { [clockOffset] in SystemClock.now().addingSeconds(clockOffset / 1000) }
  }
}

/// An open store.
struct OpenStore {
  let folder: StoreFolder
  let settings: StoreSettings
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

  /// Opens a store, runs an operation and closes it.
  static func with<Result>(
    _ folder: StoreFolder, _ body: (OpenStore) async throws -> Result
  ) async throws -> Result {
    let open = try folder.open()
    do {
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
