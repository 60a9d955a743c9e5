// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import ReceiptTesting
import Storefront
import Testing

@Suite struct ProductIdentifierSourceTests {
  private let folder: ListFolder
  private let clock = FixedClock(Timestamp(secondsSince1970: 1_700_000_000))
  private let lines = Lines()
  private var cacheFile: URL { folder.url.appending(path: "products.cache") }

  init() throws { folder = try ListFolder() }

  private func source(
    _ server: ListServer, version: Int = 2, hasCache: Bool = true, base: String = "https://example.com/store"
  ) throws -> ProductIdentifierSource {
    ProductIdentifierSource(
      transport: server, base: try RemoteURL(base), formatVersion: version,
      cacheFile: hasCache ? cacheFile : nil, time: instantTime(clock.reading), log: lines.log)
  }

  private func error(of source: ProductIdentifierSource) async -> ProductIdentifierError? {
    do throws(ProductIdentifierError) {
      _ = try await source.load()
      return nil
    } catch {
      return error
    }
  }

  @Test func theVersionOfTheFormatPicksTheFile() async throws {
    let server = ListServer(#"["a"]"#)
    _ = try await source(server, version: 1).load()
    _ = try await source(server, version: 2).load()
    _ = try await ProductIdentifierSource(
      transport: server, base: try RemoteURL("https://example.com/"), name: "our products", formatVersion: 10
    ).load()
    #expect(
      await server.requests.map(\.url.description) == [
        "https://example.com/store/products_v1.json", "https://example.com/store/products_v2.json",
        "https://example.com/our%20products_v10.json",
      ])
    #expect(
      await server.requests.allSatisfy { $0.method == .get && $0.value("Accept") == "application/json" })
  }

  @Test func aMissingVersionIsNotReplacedByAnother() async throws {
    let server = ListServer { request in
      .success(
        request.url.path.hasSuffix("_v1.json")
          ? RemoteResponse(status: 200, body: Array(#"["old"]"#.utf8)) : RemoteResponse(status: 404))
    }
    #expect(try await source(server, version: 1).load().list.identifiers == ["old"])
    let error = await error(of: try source(server, version: 2))
    #expect(error?.code == .notFound)
    #expect(error?.place == "https://example.com/store/products_v2.json")
    // The cache of the other version is not used either.
    #expect(await server.requests.last?.value("If-None-Match") == nil)
    // The file of version 1 is still available.
    await server.answers { _ in .failure(HTTPTransportError(.cannotConnect, "down")) }
    #expect(try await source(server, version: 1).load().list.identifiers == ["old"])
  }

  @Test func aListIsFreshThenNotModifiedThenFresh() async throws {
    let server = ListServer(#"["a", "b"]"#, etag: "\"1\"", lastModified: "Tue, 14 Nov 2023 22:13:20 GMT")
    let source = try source(server)
    let first = try await source.load()
    #expect(first.freshness == .fresh)
    #expect(first.list.identifiers == ["a", "b"])
    #expect(first.confirmedAt == clock.now)
    #expect(await server.requests[0].value("If-None-Match") == nil)
    #expect(await server.requests[0].value("If-Modified-Since") == nil)
    clock.advance(seconds: 60)
    let second = try await source.load()
    #expect(second.freshness == .notModified)
    #expect(second.list == first.list)
    #expect(second.confirmedAt == clock.now)
    #expect(await server.requests[1].value("If-None-Match") == "\"1\"")
    #expect(await server.requests[1].value("If-Modified-Since") == "Tue, 14 Nov 2023 22:13:20 GMT")
    await server.has(#"["c"]"#, etag: "\"2\"")
    let third = try await source.load()
    #expect(third.freshness == .fresh)
    #expect(third.list.identifiers == ["c"])
    _ = try await source.load()
    #expect(await server.requests[3].value("If-None-Match") == "\"2\"")
    #expect(await server.requests[3].value("If-Modified-Since") == nil)
    #expect(lines.all.isEmpty)
  }

  @Test func aDateAloneIsEnough() async throws {
    let server = ListServer(#"["a"]"#, lastModified: "Tue, 14 Nov 2023 22:13:20 GMT")
    _ = try await source(server).load()
    #expect(try await source(server).load().freshness == .notModified)
    #expect(await server.requests[1].value("If-None-Match") == nil)
  }

  @Test func validatorsOfANotModifiedAnswerReplaceTheOldOnes() async throws {
    let server = ListServer(#"["a"]"#, etag: "\"1\"")
    _ = try await source(server).load()
    await server.answers { _ in .success(RemoteResponse(status: 304, headers: [HTTPHeader("ETag", "\"1b\"")]))
    }
    _ = try await source(server).load()
    _ = try await source(server).load()
    #expect(await server.requests[2].value("If-None-Match") == "\"1b\"")
    await server.answers { _ in .success(RemoteResponse(status: 304)) }
    _ = try await source(server).load()
    _ = try await source(server).load()
    #expect(await server.requests[4].value("If-None-Match") == "\"1b\"")
  }

  @Test(
    arguments: [
      (nil, .unavailable), (500, .unavailable), (503, .unavailable), (429, .unavailable), (403, .refused),
      (404, .notFound), (410, .notFound), (204, .refused), (301, .refused),
    ] as [(Int?, ProductIdentifierError.Code)])
  func theLastValidListIsUsedAndMarkedAsStale(_ status: Int?, _ code: ProductIdentifierError.Code)
    async throws
  {
    let server = ListServer(#"["a"]"#, etag: "\"1\"")
    let good = try await source(server).load()
    await server.answers { _ in
      status.map { .success(RemoteResponse(status: $0)) } ?? .failure(HTTPTransportError(.timedOut, "down"))
    }
    clock.advance(seconds: 86400)
    let stale = try await source(server).load()
    #expect(stale.list == good.list)
    #expect(stale.confirmedAt == good.confirmedAt)
    guard case .stale(let reason) = stale.freshness else {
      Issue.record("\(stale.freshness)")
      return
    }
    #expect(reason.code == code)
    #expect(lines.all.count == 1)
    // Without a cached list, the error is thrown.
    #expect(await error(of: try source(server, hasCache: false)) == reason)
    // Temporary errors are retried: four times, and four times for the source without cache.
    #expect(await server.requests.count == (code == .unavailable ? 9 : 3))
  }

  @Test(
    arguments: [
      ("", .empty), ("[", .malformed), ("<html>", .malformed), ("{}", .wrongType), (#"["a", 1]"#, .wrongType),
      (#"[""]"#, .invalidIdentifier),
    ] as [(String, ProductIdentifierError.Code)])
  func anUnreadableListIsRefused(_ body: String, _ code: ProductIdentifierError.Code) async throws {
    let server = ListServer(#"["a"]"#, etag: "\"1\"")
    _ = try await source(server).load()
    await server.has(body, etag: "\"2\"")
    let stale = try await source(server).load()
    #expect(stale.list.identifiers == ["a"])
    guard case .stale(let reason) = stale.freshness else {
      Issue.record("\(stale.freshness)")
      return
    }
    #expect(reason.code == code)
    #expect(reason.place.hasPrefix("https://example.com/store/products_v2.json: "))
    // A valid list is accepted again; the validators are still those of the last valid one.
    await server.has(#"["b"]"#, etag: "\"3\"")
    #expect(try await source(server).load().list.identifiers == ["b"])
    #expect(await server.requests[2].value("If-None-Match") == "\"1\"")
    #expect(await error(of: try source(ListServer(body), hasCache: false))?.code == code)
  }

  @Test func notModifiedWithoutAConditionIsAnError() async throws {
    let server = ListServer { _ in .success(RemoteResponse(status: 304)) }
    #expect(await error(of: try source(server))?.code == .invalidResponse)
    // A list without validators makes no conditional request.
    await server.has(#"["a"]"#)
    _ = try await source(server).load()
    await server.answers { _ in .success(RemoteResponse(status: 304)) }
    let stale = try await source(server).load()
    #expect(stale.list.identifiers == ["a"])
    guard case .stale(let reason) = stale.freshness else {
      Issue.record("\(stale.freshness)")
      return
    }
    #expect(reason.code == .invalidResponse)
  }

  @Test func aDamagedCacheIsNotUsedAndIsReported() async throws {
    let server = ListServer(#"["a", "b", "a"]"#, etag: "\"1\"")
    _ = try await source(server).load()
    #expect(lines.all.count == 1, "twice in the list")
    let good = try Data(contentsOf: cacheFile)
    var damaged: [Data] = [Data(), Data("{}".utf8), Data("[\"a\"]".utf8), good.prefix(good.count - 1)]
    for index in stride(from: 0, to: good.count, by: 1) {
      var copy = good
      copy[copy.startIndex + index] ^= 1
      damaged.append(copy)
    }
    for (index, data) in damaged.enumerated() {
      try data.write(to: cacheFile)
      await server.answers { _ in .failure(HTTPTransportError(.cannotConnect, "down")) }
      if index < 8 {
        #expect(await error(of: try source(server))?.code == .unavailable)
      }
      await server.has(#"["c"]"#, etag: "\"2\"")
      let result = try await source(server).load()
      #expect(result.freshness == .fresh)
      #expect(result.notices.count == 1, "byte \(index - 4)")
      #expect(result.notices.first?.place.hasPrefix(cacheFile.path) == true)
      #expect(await server.requests.last?.value("If-None-Match") == nil)
      // A valid list replaced it.
      let again = try await source(server).load()
      #expect(again.freshness == .notModified)
      #expect(again.notices.isEmpty)
    }
  }

  @Test func aCacheKeepsTheWholeList() async throws {
    let server = ListServer(#"["b", "a", "b"]"#, etag: "\"1\"")
    let first = try await source(server).load()
    #expect(first.list.duplicates == ["b"])
    #expect(try await source(server).load().list == first.list)
  }

  @Test func withoutACacheTheListIsStillReturned() async throws {
    let server = ListServer(#"["a"]"#, etag: "\"1\"")
    let source = ProductIdentifierSource(
      transport: server, base: try RemoteURL("https://example.com"), formatVersion: 1,
      cacheFile: folder.url.appending(path: "missing/cache"), time: instantTime(clock.reading), log: lines.log
    )
    let result = try await source.load()
    #expect(result.freshness == .fresh)
    #expect(result.notices.count == 1)
    #expect(lines.all.count == 1)
    // A folder is not a cache, and is not changed.
    let other = try folder.write("keep", to: "file")
    let directory = ProductIdentifierSource(
      transport: server, base: try RemoteURL("https://example.com"), formatVersion: 1, cacheFile: folder.url,
      time: instantTime(clock.reading))
    #expect(try await directory.load().notices.count == 2)
    #expect(try String(contentsOf: other, encoding: .utf8) == "keep")
  }

  @Test func anUnsafeValidatorIsNotKept() async throws {
    for etag in ["\"a\r\nX: 1\"", "\"ü\"", "", "\"\(String(repeating: "a", count: 2000))\""] {
      let server = ListServer { _ in
        .success(
          RemoteResponse(status: 200, headers: [HTTPHeader("ETag", etag)], body: Array(#"["a"]"#.utf8)))
      }
      _ = try await source(server).load()
      _ = try await source(server).load()
      #expect(await server.requests[1].value("If-None-Match") == nil)
    }
  }

  @Test func aLongAnswerIsRefused() async throws {
    let server = ListServer { request in
      #expect(request.maximumResponseByteCount == ProductIdentifierList.maximumByteCount)
      return .success(
        RemoteResponse(
          status: 200, body: [UInt8](repeating: 0x20, count: request.maximumResponseByteCount + 1)))
    }
    #expect(await error(of: try source(server))?.code == .tooLarge)
  }

  @Test func aCancelledTaskGetsNoListNotEvenACachedOne() async throws {
    let server = ListServer(#"["a"]"#)
    let source = try source(server)
    _ = try await source.load()
    await server.answers { _ in .failure(HTTPTransportError(.cancelled, "cancelled")) }
    #expect(await error(of: source)?.code == .cancelled)
  }

  @Test func manyAtOnceGetAListAndLeaveAGoodCache() async throws {
    let server = ListServer(#"["a"]"#, etag: "\"1\"")
    let source = try source(server)
    try await withThrowingTaskGroup { group in
      for _ in 0..<16 { group.addTask { try await source.load().list.identifiers } }
      for try await identifiers in group { #expect(identifiers == ["a"]) }
    }
    let after = try await source.load()
    #expect(after.freshness == .notModified)
    #expect(after.notices.isEmpty)
  }
}
