// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptHTTP
import Storefront

/// The owner of the transactions, who receives updates of downloads.
actor TransactionBook {
  private var contents: [PaymentTransaction.ID: [DownloadableContent]] = [:]
  private let news = DownloadNews()

  init(_ contents: [PaymentTransaction.ID: [DownloadableContent]]) { self.contents = contents }

  func content(
    of transaction: PaymentTransaction.ID
  ) -> [DownloadableContent]? { contents[transaction] }

  func finish(_ transaction: PaymentTransaction.ID) { contents[transaction] = nil }

  func downloadsChanged(_ downloads: [Download]) async { await news.note(downloads) }

  var history: [Download] { get async { await news.history } }

  /// The first reported download, now or before, that meets a condition.
  func first(where isMet: @escaping @Sendable (Download) -> Bool) async throws -> Download {
    try await news.first(where: isMet)
  }

  /// The next download that ends in any way.
  func ended() async throws -> Download {
    try await first { [.finished, .failed, .cancelled].contains($0.state) }
  }

  func forget() async { await news.forget() }
}

extension DownloadQueue {
  init(
    options: DownloadOptions, storage: any RecordStorage, files: any DownloadFiles, book: TransactionBook
  ) throws(DownloadError) {
    try self.init(
      options: options, storage: storage, files: files,
      content: { (transaction) async throws(DownloadError) in await book.content(of: transaction) },
      observer: { await book.downloadsChanged($0) })
  }
}

/// A directory that is removed with its owner.
final class ScratchDirectory: Sendable {
  let path: String

  init() throws {
    path =
      FileManager.default.temporaryDirectory.appendingPathComponent("downloads-\(UUID().uuidString)").path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }

  func read(_ path: String?) -> [UInt8]? {
    path.flatMap { FileManager.default.contents(atPath: $0) }.map { Array($0) }
  }
}

enum DownloadFixture {
  static let transaction = PaymentTransaction.ID(rawValue: "000000000000001")
  /// Five ranges, the last one shorter.
  static let bytes: [UInt8] = {
    var values = RandomValues(seed: 77)
    return values.bytes(4500...4500)
  }()

  static func content(
    _ bytes: [UInt8] = bytes, url: String = "https://content.example/level-2?key=1", length: Int? = nil,
    sha256: [UInt8]? = nil
  ) -> DownloadableContent {
    DownloadableContent(
      contentIdentifier: "level-2", contentVersion: "1.0", url: url,
      contentLength: Int64(length ?? bytes.count), sha256: sha256 ?? Digest.hash(bytes, using: .sha256))
  }

  static func book(_ contents: DownloadableContent...) -> TransactionBook {
    TransactionBook([transaction: contents])
  }

  /// Ranges of 1 KiB, two attempts each, and a clock that stands still.
  static func options(
    _ server: any HTTPTransport, _ directory: ScratchDirectory, active: Int = 2, whole: Int = 64 << 20
  ) -> DownloadOptions {
    let time = RemoteTime(
      now: { StoreOverHTTP.now }, elapsed: { .zero }, sleep: { _ in try Task.checkCancellation() },
      random: { 0 })
    return DownloadOptions(
      directory: directory.path, transport: server, chunkByteCount: 1024, maximumWholeByteCount: whole,
      maximumActiveCount: active, retry: RetryPolicy(maximumAttempts: 2), time: time)
  }

  static func queue(
    _ server: any HTTPTransport, _ directory: ScratchDirectory, _ book: TransactionBook,
    storage: any RecordStorage = MemoryRecordStorage(), active: Int = 2, whole: Int = 64 << 20,
    files: (any DownloadFiles)? = nil
  ) async throws -> DownloadQueue {
    let queue = try DownloadQueue(
      options: options(server, directory, active: active, whole: whole), storage: storage,
      files: files ?? DownloadFolder(directory.path), book: book)
    try await queue.begin()
    return queue
  }

  /// Starts all downloads of the transaction, and waits until one has ended.
  static func run(
    _ server: any HTTPTransport, _ directory: ScratchDirectory, _ content: DownloadableContent = content(),
    whole: Int = 64 << 20
  ) async throws -> Download {
    let book = book(content)
    let queue = try await queue(server, directory, book, whole: whole)
    try await queue.start(try await queue.downloads(of: transaction))
    return try await book.ended()
  }
}
