// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import ReceiptHTTP
import Storefront
import Testing

@Suite(.timeLimit(.minutes(2))) struct DownloadTests {
  private let directory: ScratchDirectory
  private let bytes = DownloadFixture.bytes

  init() throws { directory = try ScratchDirectory() }

  @Test func fetchesRangeAfterRange() async throws {
    let server = ContentServer(bytes)
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.state == .finished)
    #expect(download.progress == 1)
    #expect(download.error == nil)
    #expect(directory.read(download.contentPath) == bytes)
    #expect(
      await server.ranges == [
        "bytes=0-1023", "bytes=1024-2047", "bytes=2048-3071", "bytes=3072-4095", "bytes=4096-4499",
      ])
    let conditions = await server.requests.map { $0.headers.first { $0.name == "If-Range" }?.value }
    #expect(conditions == [nil, "\"one\"", "\"one\"", "\"one\"", "\"one\""])
    #expect(await server.requests.allSatisfy { $0.maximumResponseByteCount <= 1024 })
    #expect(directory.names.count == 1)
  }

  @Test func filesAreReadableByTheirOwnerAndNamedByTheQueue() async throws {
    let content = DownloadableContent(
      contentIdentifier: "../../etc/passwd", contentVersion: "..", url: "https://content.example/../../x",
      contentLength: Int64(bytes.count), sha256: DownloadFixture.content().sha256)
    let download = try await DownloadFixture.run(ContentServer(bytes), directory, content)
    let path = try #require(download.contentPath)
    let name = try #require(directory.names.first)
    #expect(path == "\(directory.path)/\(name)")
    #expect(name.utf8.count == 64 + ".content".utf8.count)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func progressGoesFromNothingToAll() async throws {
    let book = DownloadFixture.book(DownloadFixture.content())
    let queue = try await DownloadFixture.queue(ContentServer(bytes), directory, book)
    let before = try await queue.downloads(of: DownloadFixture.transaction)
    #expect(before.map(\.state) == [.waiting])
    #expect(before.map(\.progress) == [0])
    try await queue.start(before)
    _ = try await book.ended()
    let progress = await book.history.map(\.progress)
    #expect(progress == progress.sorted())
    #expect(progress.last == 1)
    #expect(await queue.downloads.map(\.state) == [.finished])
  }

  @Test func timeRemainingFollowsThePace() async throws {
    let clock = SteppingClock()
    let book = DownloadFixture.book(DownloadFixture.content())
    var options = DownloadFixture.options(ContentServer(bytes), directory)
    options.time.elapsed = { clock.now }
    let queue = try DownloadQueue(
      options: options, storage: MemoryRecordStorage(), files: DownloadFolder(directory.path),
      book: book)
    try await queue.begin()
    try await queue.start(try await queue.downloads(of: DownloadFixture.transaction))
    let end = try await book.ended()
    #expect(end.timeRemaining == nil)
    let active = await book.history.filter { $0.state == .active }
    #expect(active.allSatisfy { ($0.timeRemaining == nil) == ($0.receivedByteCount == 0) })
  }

  @Test(arguments: [0, 1, 1023, 1024, 1025]) func contentOfEveryLengthIsFetched(length: Int) async throws {
    let bytes = Array(bytes.prefix(length))
    let server = ContentServer(bytes)
    let download = try await DownloadFixture.run(server, directory, DownloadFixture.content(bytes))
    #expect(download.state == .finished)
    #expect(directory.read(download.contentPath) == bytes)
    #expect(await server.requests.count == (length + 1023) / 1024)
  }

  // MARK: Other server behaviour

  @Test func aServerWithoutRangesIsAskedForAllContent() async throws {
    let bytes = bytes
    let server = ContentServer { _ in ContentServer.Resource(bytes: bytes, givesParts: false) }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.state == .finished)
    #expect(directory.read(download.contentPath) == bytes)
    #expect(await server.ranges == ["bytes=0-1023", "all"])
  }

  @Test func tooLongContentFromAServerWithoutRangesIsRefused() async throws {
    let bytes = bytes
    let server = ContentServer { _ in ContentServer.Resource(bytes: bytes, givesParts: false) }
    let download = try await DownloadFixture.run(server, directory, whole: 4499)
    #expect(download.error?.code == .rangesUnsupported)
    #expect(download.contentPath == nil)
  }

  @Test(arguments: [nil, "W/\"weak\"", "\"", "two words"])
  func withoutAStrongValidatorThereIsNoIfRange(tag: String?) async throws {
    let bytes = bytes
    let server = ContentServer { _ in ContentServer.Resource(bytes: bytes, tag: tag) }
    #expect(try await DownloadFixture.run(server, directory).state == .finished)
    #expect(await server.requests.allSatisfy { $0.headers.allSatisfy { $0.name != "If-Range" } })
  }

  @Test(arguments: 1...4, [true, false]) func contentThatChangesBetweenRangesIsFetchedAgain(
    at number: Int, heedsIfRange: Bool
  ) async throws {
    var old = bytes
    old[0] ^= 1
    let (before, after) = (old, bytes)
    let server = ContentServer { request in
      request < number
        ? ContentServer.Resource(bytes: before)
        : ContentServer.Resource(bytes: after, tag: "\"two\"", heedsIfRange: heedsIfRange)
    }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.state == .finished)
    #expect(directory.read(download.contentPath) == bytes)
  }

  @Test(arguments: 1...4) func contentThatChangesUndetectedFailsItsDigest(at number: Int) async throws {
    var old = bytes
    old[0] ^= 1
    let (before, after) = (old, bytes)
    let server = ContentServer { ContentServer.Resource(bytes: $0 < number ? before : after, tag: nil) }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.error?.code == .checksumMismatch)
    #expect(directory.names == [])
  }

  @Test func contentThatAlwaysChangesFails() async throws {
    let bytes = bytes
    let server = ContentServer {
      ContentServer.Resource(bytes: bytes, tag: "\"\($0)\"", heedsIfRange: false)
    }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.error?.code == .contentChanged)
    #expect(directory.names == [])
    #expect(await server.requests.count < 12)
  }

  @Test func otherContentIsNotTaken() async throws {
    for index in [0, 1023, 1024, 4499] {
      var damaged = bytes
      damaged[index] ^= 0x80
      let download = try await DownloadFixture.run(ContentServer(damaged), directory)
      #expect(download.error?.code == .checksumMismatch)
      #expect(download.receivedByteCount == 0)
      #expect(directory.names == [])
    }
  }

  @Test(arguments: [4499, 4501, 10_000, 1, 0]) func anotherLengthIsRefused(length: Int) async throws {
    let other = [UInt8](repeating: 1, count: length)
    let download = try await DownloadFixture.run(ContentServer(other), directory)
    #expect(download.error?.code == .lengthMismatch)
    #expect(directory.names == [])
    let bytes = bytes
    let server = ContentServer { _ in ContentServer.Resource(bytes: bytes, tag: nil, givesParts: false) }
    let wrong = DownloadFixture.content(length: length == 0 ? 7 : length)
    let whole = try await DownloadFixture.run(server, directory, wrong)
    #expect(whole.error?.code == .lengthMismatch)
    #expect(directory.names == [])
  }

  @Test(arguments: [
    nil, "", "bytes", "bytes 0-1023", "bytes 1-1024/4500", "bytes 0-1024/4500", "bytes 5-4/4500",
    "bytes 0-1023/1023", "items 0-1023/4500", "bytes -1023/4500", "bytes +0-1023/4500", "bytes 0-1023/4500 ",
    "bytes  0-1023/4500", "bytes 0-1023/99999999999999999999", "bytes */4500", "bytes 0x0-1023/4500",
  ])
  func aPartWithAnotherRangeIsRefused(range: String?) async throws {
    let server = ContentServer(bytes) { _, _, response throws(HTTPTransportError) in
      var response = response
      response.headers = range.map { [HTTPHeader("Content-Range", $0)] } ?? []
      return response
    }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.error?.code == .malformedResponse)
  }

  @Test func shorterRangesThanRequestedAreAccepted() async throws {
    let server = ContentServer(bytes) { _, request, response throws(HTTPTransportError) in
      let range = request.headers.first { $0.name == "Range" }?.value ?? ""
      let start = Int(range.dropFirst(6).prefix { $0 != "-" }) ?? 0
      var response = response
      response.body = Array(response.body.prefix(700))
      let last = start + response.body.count - 1
      // Not every server knows the total length.
      response.headers = [HTTPHeader("Content-Range", "bytes \(start)-\(last)/*")]
      return response
    }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.state == .finished)
    #expect(directory.read(download.contentPath) == bytes)
    #expect(await server.requests.count == 7)
  }

  @Test(arguments: [400, 401, 403, 404, 410, 204, 304, 418])
  func aRefusalFailsAtOnce(status: Int) async throws {
    let server = ContentServer(bytes) { _, _, _ throws(HTTPTransportError) in RemoteResponse(status: status) }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.error?.code == .refused)
    // Without the query, which may hold credentials.
    #expect(download.error?.place == "https://content.example/level-2")
    #expect(await server.requests.count == 1)
  }

  @Test(arguments: [408, 429, 500, 503]) func aTemporaryRefusalIsRetried(status: Int) async throws {
    let server = ContentServer(bytes) { number, _, response throws(HTTPTransportError) in
      number.isMultiple(of: 2) ? RemoteResponse(status: status) : response
    }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.state == .finished)
    #expect(await server.requests.count == 10)
  }

  @Test func aRedirectElsewhereIsNotFollowed() async throws {
    let server = ContentServer(bytes) { _, _, _ throws(HTTPTransportError) in
      RemoteResponse(status: 302, headers: [HTTPHeader("Location", "https://elsewhere.example/")])
    }
    #expect(try await DownloadFixture.run(server, directory).error?.code == .refused)
  }

  @Test func aRefusedOffsetRestartsTheDownload() async throws {
    let server = ContentServer(bytes) { number, _, response throws(HTTPTransportError) in
      number == 2
        ? RemoteResponse(status: 416, headers: [HTTPHeader("Content-Range", "bytes */4500")]) : response
    }
    let download = try await DownloadFixture.run(server, directory)
    #expect(download.state == .finished)
    #expect(directory.read(download.contentPath) == bytes)
    #expect(await server.ranges.prefix(4).last == "bytes=0-1023")
  }

  @Test(arguments: [
    ("http://content.example/", 1, 32), ("ftp://x", 1, 32), ("", 1, 32), ("/level-2", 1, 32),
    ("https://content.example/", -1, 32), ("https://content.example/", .max, 32),
    ("https://content.example/", 1, 31), ("https://content.example/", 1, 0),
  ])
  func invalidContentIsNotStarted(url: String, length: Int, digest: Int) async throws {
    let content = DownloadFixture.content(
      url: url, length: length, sha256: Array(repeating: 1, count: digest))
    let server = ContentServer(bytes)
    let queue = try await DownloadFixture.queue(server, directory, DownloadFixture.book(content))
    let downloads = try await queue.downloads(of: DownloadFixture.transaction)
    let error = await #expect(throws: DownloadError.self) { try await queue.start(downloads) }
    #expect(error?.code == .invalidContent)
    #expect(await queue.downloads == [])
    #expect(await server.requests.isEmpty)
  }
}

/// A clock that advances by a second at each reading.
private final class SteppingClock: Sendable {
  private let seconds = FaultPlan(.max, .failsOnce)

  var now: Duration {
    _ = seconds.next()
    return .seconds(seconds.stepCount)
  }
}
