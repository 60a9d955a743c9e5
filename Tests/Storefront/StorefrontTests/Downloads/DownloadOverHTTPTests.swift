// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import ReceiptHTTP
import ReceiptHTTPCurl
import Storefront
import Testing

/// Downloads with a real client from a real server, over faulty connections.
@Suite(.timeLimit(.minutes(2))) struct DownloadOverHTTPTests {
  private static let part = 1 << 16
  /// Ten ranges, the last one shorter.
  private let content: [UInt8] = {
    var values = RandomValues(seed: 78)
    return values.bytes(600_001...600_001)
  }()
  private let directory: ScratchDirectory
  private let storage = MemoryRecordStorage()

  init() throws { directory = try ScratchDirectory() }

  private func queue(
    _ transport: CurlTransport, _ book: TransactionBook, storage: MemoryRecordStorage? = nil
  ) async throws -> DownloadQueue {
    let options = DownloadOptions(
      directory: directory.path, transport: transport, chunkByteCount: Self.part,
      retry: RetryPolicy(
        maximumAttempts: 3, firstDelay: .milliseconds(1), maximumDelay: .milliseconds(5),
        deadline: .seconds(30), attemptTimeout: .seconds(20)))
    let queue = try DownloadQueue(
      options: options, storage: storage ?? self.storage, files: DownloadFolder(directory.path),
      book: book)
    try await queue.begin()
    return queue
  }

  private func sold(at server: RangeServer) -> DownloadableContent {
    DownloadFixture.content(content, url: server.url)
  }

  @Test func itCompletesAfterPausesErrorsAndRelaunches() async throws {
    let server = try RangeServer(content, tag: "\"one\"")
    defer { server.stop() }
    let transport = CurlTransport()
    defer { transport.shutdown() }
    let book = DownloadFixture.book(sold(at: server))

    // Two ranges arrive, and the third stops half-way: pausing closes the connection.
    server.plan([.whole, .whole, .stalls(after: 1000)])
    let first = try await queue(transport, book)
    let started = try await first.downloads(of: DownloadFixture.transaction)
    try await first.start(started)
    try await eventually { server.stalled == 1 }
    try await first.pause(started.map(\.id))
    try await eventually { server.hangUps == 1 }
    #expect(await first.downloads.map(\.state) == [.paused])
    #expect(await first.downloads.map(\.receivedByteCount) == [Int64(2 * Self.part)])

    // Each lost connection costs an attempt; three in a row are too many.
    let nothing = RangeServer.Fate.breaks(after: 0)
    server.plan([
      nothing, .breaks(after: Self.part - 1), .whole, .breaks(after: 7), .whole, nothing, nothing, nothing,
    ])
    await book.forget()
    try await first.resume(started.map(\.id))
    let failed = try await book.first { [.failed, .finished].contains($0.state) }
    #expect(failed.error?.code == .unreachable)
    #expect(failed.receivedByteCount == Int64(4 * Self.part))
    await first.close()
    await book.forget()

    // The next launch continues there.
    let next = try await queue(transport, book, storage: storage.reopened())
    #expect(await next.downloads.map(\.state) == [.failed])
    try await next.resume(started.map(\.id))
    let finished = try await book.first { $0.state == .finished }
    let bytes = try #require(directory.read(finished.contentPath))
    #expect(Digest.hash(bytes, using: .sha256) == Digest.hash(content, using: .sha256))
    #expect(directory.names.count == 1)

    let exchanges = server.exchanges
    #expect(exchanges.allSatisfy { $0.status == 206 })
    #expect(exchanges.dropFirst().allSatisfy { $0.ifRange == "\"one\"" })
    // Only the first request was for the beginning, and no complete range was requested again.
    let whole = exchanges.filter { $0.sentByteCount == Self.part || $0 == exchanges.last }
    #expect(Set(whole.map(\.range)).count == whole.count)
    #expect(whole.reduce(0) { $0 + $1.sentByteCount } == content.count)
  }

  @Test func anUnreachableServerIsRetriedLater() async throws {
    let server = try RangeServer(content, tag: "\"one\"")
    defer { server.stop() }
    let transport = CurlTransport()
    defer { transport.shutdown() }
    server.setDown(true)
    let book = DownloadFixture.book(sold(at: server))
    let queue = try await queue(transport, book)
    let started = try await queue.downloads(of: DownloadFixture.transaction)
    try await queue.start(started)
    #expect(try await book.ended().error?.code == .unreachable)
    server.setDown(false)
    try await queue.resume(started.map(\.id))
    let finished = try await book.first { $0.state == .finished }
    #expect(directory.read(finished.contentPath) == content)
  }

  @Test func replacedContentIsFetchedAgain() async throws {
    var old = content
    for index in stride(from: 0, to: old.count, by: 1000) { old[index] ^= 1 }
    let server = try RangeServer(old, tag: "\"old\"")
    defer { server.stop() }
    let transport = CurlTransport()
    defer { transport.shutdown() }
    // The sale has the digest of the new content: the server still had the old one.
    let book = DownloadFixture.book(sold(at: server))
    server.plan([.whole, .whole, .stalls(after: 5)])
    let queue = try await queue(transport, book)
    let started = try await queue.downloads(of: DownloadFixture.transaction)
    try await queue.start(started)
    try await eventually { server.stalled == 1 }
    try await queue.pause(started.map(\.id))
    server.replace(content, tag: "\"new\"")
    try await queue.resume(started.map(\.id))
    let finished = try await book.first { [.finished, .failed].contains($0.state) }
    #expect(finished.error == nil)
    #expect(directory.read(finished.contentPath) == content)
    #expect(server.exchanges.contains { $0.ifRange == "\"old\"" && $0.status == 200 })
  }
}
