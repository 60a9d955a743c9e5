// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptHTTP
import Storefront
import Testing

/// Starting, pausing, resuming and cancelling, and the state after a relaunch or an error.
@Suite(.timeLimit(.minutes(3))) struct DownloadQueueTests {
  private let directory: ScratchDirectory
  private let bytes = DownloadFixture.bytes
  private let storage = MemoryRecordStorage()

  init() throws { directory = try ScratchDirectory() }

  private func start(_ queue: DownloadQueue) async throws -> [Download] {
    let downloads = try await queue.downloads(of: DownloadFixture.transaction)
    try await queue.start(downloads)
    return downloads
  }

  /// Lets the server answer a number of requests, and holds the next one.
  private func serverHolding(after count: Int) -> ContentServer {
    ContentServer(bytes) { number, _, response throws(HTTPTransportError) in
      if number >= count { throw HTTPTransportError(.connectionLost, "held") }
      return response
    }
  }

  @Test func stoppedDownloadsContinueWhereTheyStopped() async throws {
    let book = DownloadFixture.book(DownloadFixture.content())
    for lostAt in 0...4 {
      let directory = try ScratchDirectory()
      let storage = MemoryRecordStorage()
      let broken = serverHolding(after: lostAt)
      let first = try await DownloadFixture.queue(broken, directory, book, storage: storage)
      let started = try await start(first)
      let failed = try await book.ended()
      #expect(failed.error?.code == .unreachable)
      #expect(failed.receivedByteCount == Int64(lostAt * 1024))
      await first.close()
      await book.forget()

      let server = ContentServer(bytes)
      let second = try await DownloadFixture.queue(server, directory, book, storage: storage.reopened())
      #expect(await second.downloads.map(\.state) == [.failed])
      #expect(await second.downloads.map(\.error?.code) == [.unreachable])
      #expect(await second.downloads.map(\.receivedByteCount) == [Int64(lostAt * 1024)])
      try await second.resume(started.map(\.id))
      let finished = try await book.first { $0.state == .finished }
      #expect(directory.read(finished.contentPath) == bytes)
      #expect(await server.ranges.first == "bytes=\(lostAt * 1024)-\(min(lostAt * 1024 + 1023, 4499))")
      #expect(await server.requests.count == 5 - lostAt)
      await book.forget()
    }
  }

  @Test func aLostConnectionAtAnyByteCostsOneAttempt() async throws {
    let isLong = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] != nil
    for count in stride(from: 0, to: 1024, by: isLong ? 1 : 73) {
      let directory = try ScratchDirectory()
      let server = ContentServer(bytes) { number, _, response throws(HTTPTransportError) in
        guard number == 3 else { return response }
        var cut = response
        cut.body = Array(response.body.prefix(count))
        return cut
      }
      let download = try await DownloadFixture.run(server, directory)
      #expect(download.state == .finished)
      #expect(directory.read(download.contentPath) == bytes)
      #expect(await server.requests.count == 6)
    }
  }

  @Test func waitingDownloadsContinueByThemselves() async throws {
    let server = ContentServer(bytes)
    await server.hold()
    let book = DownloadFixture.book(DownloadFixture.content())
    let first = try await DownloadFixture.queue(server, directory, book, storage: storage)
    _ = try await start(first)
    _ = try await book.first { $0.state == .active }
    await first.close()
    await server.release()
    let second = try await DownloadFixture.queue(server, directory, book, storage: storage.reopened())
    let finished = try await book.ended()
    #expect(directory.read(finished.contentPath) == bytes)
    #expect(await second.downloads.map(\.state) == [.finished])
  }

  @Test func pausedStaysPausedUntilItIsResumed() async throws {
    let server = ContentServer(bytes)
    await server.hold()
    let book = DownloadFixture.book(DownloadFixture.content())
    let first = try await DownloadFixture.queue(server, directory, book, storage: storage)
    let started = try await start(first)
    _ = try await book.first { $0.state == .active }
    try await first.pause(started.map(\.id))
    #expect(await first.downloads.map(\.state) == [.paused])
    await server.release()
    await first.close()
    let second = try await DownloadFixture.queue(server, directory, book, storage: storage.reopened())
    #expect(await second.downloads.map(\.state) == [.paused])
    try await second.start(started)
    #expect(await second.downloads.map(\.state) == [.paused])
    #expect(await server.requests.count == 1)
    try await second.resume(started.map(\.id))
    #expect(directory.read(try await book.ended().contentPath) == bytes)
  }

  @Test func cancelledLeavesNothing() async throws {
    let server = serverHolding(after: 2)
    let book = DownloadFixture.book(DownloadFixture.content())
    let queue = try await DownloadFixture.queue(server, directory, book, storage: storage)
    let started = try await start(queue)
    _ = try await book.first { $0.state == .failed }
    #expect(directory.names.count == 1)
    try await queue.cancel(started.map(\.id))
    #expect(try await book.first { $0.state == .cancelled }.receivedByteCount == 0)
    #expect(directory.names == [])
    #expect(await queue.downloads == [])
    #expect(try storage.records(in: RecordCollection(rawValue: "downloads"), after: nil, limit: 1) == [])
    let error = await #expect(throws: DownloadError.self) { try await queue.cancel(started.map(\.id)) }
    #expect(error?.code == .unknownDownload)
  }

  @Test func cancelledWhileActiveIsNotWrittenAnyMore() async throws {
    let server = ContentServer(bytes)
    await server.hold()
    let book = DownloadFixture.book(DownloadFixture.content())
    let queue = try await DownloadFixture.queue(server, directory, book)
    let started = try await start(queue)
    _ = try await book.first { $0.state == .active }
    try await queue.cancel(started.map(\.id))
    await server.release()
    _ = try await book.first { $0.state == .cancelled }
    for _ in 0..<50 { await Task.yield() }
    #expect(directory.names == [])
    try await queue.start(started)
    #expect(directory.read(try await book.first { $0.state == .finished }.contentPath) == bytes)
  }

  @Test func finishedStaysFinished() async throws {
    let book = DownloadFixture.book(DownloadFixture.content())
    let server = ContentServer(bytes)
    let queue = try await DownloadFixture.queue(server, directory, book, storage: storage)
    let started = try await start(queue)
    _ = try await book.ended()
    try await queue.cancel(started.map(\.id))
    try await queue.pause(started.map(\.id))
    try await queue.resume(started.map(\.id))
    try await queue.start(started)
    #expect(await queue.downloads.map(\.state) == [.finished])
    #expect(await server.requests.count == 5)
    await queue.close()
    let second = try await DownloadFixture.queue(server, directory, book, storage: storage.reopened())
    #expect(await second.downloads.map(\.state) == [.finished])
    #expect(directory.read(await second.downloads.first?.contentPath) == bytes)
  }

  @Test func theNumberOfActiveDownloadsIsBounded() async throws {
    let bytes = bytes
    let contents = (0..<5).map { index in
      DownloadFixture.content(Array(bytes.prefix(10 + index)), url: "https://content.example/\(index)")
    }
    let server = ContentServer({ _ in ContentServer.Resource(bytes: bytes) }) {
      _, request, _ throws(HTTPTransportError) in
      let count = 10 + (Int(request.url.path.dropFirst()) ?? 0)
      return RemoteResponse(status: 200, body: Array(bytes.prefix(count)))
    }
    await server.hold()
    let book = TransactionBook([DownloadFixture.transaction: contents])
    let queue = try await DownloadFixture.queue(server, directory, book, active: 2)
    _ = try await start(queue)
    #expect(await queue.downloads.map(\.state) == [.active, .active, .waiting, .waiting, .waiting])
    await server.release()
    for index in 0..<5 { _ = try await book.first { $0.index == index && $0.state == .finished } }
    #expect(directory.names.count == 5)
  }

  // MARK: Permission

  @Test func onlyPurchasedContentIsStarted() async throws {
    let server = ContentServer(bytes)
    let book = DownloadFixture.book(DownloadFixture.content())
    let queue = try await DownloadFixture.queue(server, directory, book)
    let downloads = try await queue.downloads(of: DownloadFixture.transaction)
    let other = TransactionBook([
      DownloadFixture.transaction: [DownloadFixture.content(url: "https://evil.example/")]
    ])
    let forged = try await DownloadFixture.queue(server, try ScratchDirectory(), other)
      .downloads(of: DownloadFixture.transaction)
    let error = await #expect(throws: DownloadError.self) { try await queue.start(downloads + forged) }
    #expect(error?.code == .notPurchased)
    await book.finish(DownloadFixture.transaction)
    let finished = await #expect(throws: DownloadError.self) { try await queue.start(downloads) }
    #expect(finished?.code == .notPurchased)
    let unknown = await #expect(throws: DownloadError.self) {
      try await queue.downloads(of: PaymentTransaction.ID(rawValue: "7"))
    }
    #expect(unknown?.code == .notPurchased)
    #expect(await queue.downloads == [])
    #expect(await server.requests.isEmpty)
  }

  @Test func finishedDownloadsAreNotResumed() async throws {
    let book = DownloadFixture.book(DownloadFixture.content())
    let queue = try await DownloadFixture.queue(serverHolding(after: 1), directory, book)
    let started = try await start(queue)
    _ = try await book.first { $0.state == .failed }
    await book.finish(DownloadFixture.transaction)
    let error = await #expect(throws: DownloadError.self) { try await queue.resume(started.map(\.id)) }
    #expect(error?.code == .notPurchased)
  }

  @Test func atTheNextLaunchNothingIsLeftOfFinishedTransactions() async throws {
    let book = DownloadFixture.book(DownloadFixture.content())
    let first = try await DownloadFixture.queue(serverHolding(after: 1), directory, book, storage: storage)
    _ = try await start(first)
    _ = try await book.first { $0.state == .failed }
    await first.close()
    await book.finish(DownloadFixture.transaction)
    try Data([1]).write(to: URL(fileURLWithPath: directory.path + "/stray.part"))
    let second = try await DownloadFixture.queue(
      ContentServer(bytes), directory, book, storage: storage.reopened())
    #expect(await second.downloads == [])
    #expect(directory.names == [])
  }

  // MARK: Faults

  @Test(arguments: FaultPlan.Kind.allCases) func everyFaultCanBeRecoveredFrom(kind: FaultPlan.Kind)
    async throws
  {
    var step = 0
    while true {
      let plan = FaultPlan(step, kind)
      let directory = try ScratchDirectory()
      let storage = MemoryRecordStorage()
      let book = DownloadFixture.book(DownloadFixture.content())
      let first = try await DownloadFixture.queue(
        ContentServer(bytes), directory, book, storage: FaultyRecordStorage(storage, plan: plan),
        files: FaultyFiles(files: try DownloadFolder(directory.path), plan: plan))
      let downloads = try await first.downloads(of: DownloadFixture.transaction)
      if (try? await first.start(downloads)) != nil {
        let ended = try await book.ended()
        if ended.state == .finished { #expect(directory.read(ended.contentPath) == bytes) }
      }
      await first.close()
      await book.forget()

      let second = try await DownloadFixture.queue(
        ContentServer(bytes), directory, book, storage: storage.reopened())
      try await second.start(downloads)
      try await second.resume(downloads.map(\.id))
      if await second.downloads.first?.state != .finished {
        _ = try await book.first { $0.state == .finished }
      }
      let download = try #require(await second.downloads.first)
      #expect(download.state == .finished, "step \(step)")
      #expect(directory.read(download.contentPath) == bytes, "step \(step)")
      #expect(directory.names.count == 1, "step \(step)")
      // Start, validator, five ranges, completion, end.
      if plan.stepCount <= step { break }
      step += 1
    }
    #expect(step >= 9)
  }

  @Test func aFullDiskKeepsReceivedBytes() async throws {
    let book = DownloadFixture.book(DownloadFixture.content())
    // The other test covers steps 0 and 1, commits of the storage; here only file operations count.
    let plan = FaultPlan(2, .failsOnce)
    let files = FaultyFiles(files: try DownloadFolder(directory.path), plan: plan, code: .diskFull)
    let server = ContentServer(bytes)
    let queue = try await DownloadFixture.queue(server, directory, book, files: files)
    let started = try await start(queue)
    let failed = try await book.ended()
    #expect(failed.error?.code == .diskFull)
    #expect(failed.receivedByteCount == 2048)
    try await queue.resume(started.map(\.id))
    #expect(directory.read(try await book.first { $0.state == .finished }.contentPath) == bytes)
    #expect(await server.requests.count == 6)
  }

  @Test func linksAreNotFollowed() throws {
    let folder = try DownloadFolder(directory.path)
    try FileManager.default.createSymbolicLink(
      atPath: directory.path + "/aa.part", withDestinationPath: "/dev/full")
    // Links are never followed.
    let error = #expect(throws: DownloadError.self) { _ = try folder.append([1], to: "aa", at: 0) }
    #expect(error?.code == .inputOutput)
  }

  @Test func aFileThatAnotherProcessChangedIsNotTrusted() async throws {
    for change in 0..<4 {
      let directory = try ScratchDirectory()
      let storage = MemoryRecordStorage()
      let book = DownloadFixture.book(DownloadFixture.content())
      let first = try await DownloadFixture.queue(serverHolding(after: 2), directory, book, storage: storage)
      let started = try await start(first)
      _ = try await book.ended()
      await first.close()
      await book.forget()
      let path = directory.path + "/" + (try #require(directory.names.first))
      var changed = try #require(directory.read(path))
      switch change {
      case 0: changed[5] ^= 1
      case 1: changed.removeLast(100)
      case 2: changed += [UInt8](repeating: 0, count: 5000)
      default: changed = []
      }
      try Data(changed).write(to: URL(fileURLWithPath: path))
      let second = try await DownloadFixture.queue(
        ContentServer(bytes), directory, book, storage: storage.reopened())
      try await second.resume(started.map(\.id))
      let ended = try await book.first { [.finished, .failed].contains($0.state) }
      if change == 0 {
        #expect(ended.error?.code == .checksumMismatch)
        #expect(directory.names == [])
        await book.forget()
        try await second.resume(started.map(\.id))
      }
      let finished = try await book.first { $0.state == .finished }
      #expect(directory.read(finished.contentPath) == bytes, "change \(change)")
    }
  }

  @Test func aDamagedRecordIsReported() async throws {
    let collection = RecordCollection(rawValue: "downloads")
    for value in ["", "{}", "[]", #"{"transaction":"1","index":0}"#] {
      let storage = MemoryRecordStorage()
      try storage.commit([.put(collection, key: "1/0", value: Array(value.utf8))])
      let error = await #expect(throws: DownloadError.self) {
        try await DownloadFixture.queue(
          ContentServer(bytes), directory, DownloadFixture.book(DownloadFixture.content()), storage: storage)
      }
      #expect(error?.code == .corrupt)
      #expect(error?.place == "downloads/1/0")
    }
  }

  @Test func afterClosingNoWorkIsDone() async throws {
    let book = DownloadFixture.book(DownloadFixture.content())
    let queue = try await DownloadFixture.queue(ContentServer(bytes), directory, book)
    let downloads = try await queue.downloads(of: DownloadFixture.transaction)
    await queue.close()
    for command in [
      queue.start, { try await queue.pause($0.map(\.id)) }, { try await queue.resume($0.map(\.id)) },
    ] {
      let error = await #expect(throws: DownloadError.self) { try await command(downloads) }
      #expect(error?.code == .closed)
    }
  }
}
