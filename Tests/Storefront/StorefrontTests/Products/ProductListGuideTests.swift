// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import ReceiptCodec
import ReceiptHTTP
import Storefront
import Testing

/// The two sources of a list of product identifiers in the guide.
@Suite struct ProductListGuideTests {
  private static let mainQueueMark = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// `true` if this runs on the main actor. The main queue is marked, because the main actor may use any thread.
  private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueMark) == true }

  private let propertyList = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><array><string>com.example.coins</string><string>com.example.gems</string></array></plist>
    """

  @Test("Product-list guide: Sources") func theListIsAResourceOrComesFromAServer() async throws {
    let folder = try ListFolder()
    // In the app: a resource, which changes only with the app and needs no server.
    _ = try folder.write(propertyList, to: "product_ids.plist")
    let embedded = try ProductIdentifierList(in: folder.url)
    #expect(embedded.identifiers == ["com.example.coins", "com.example.gems"])
    // From a server: it changes at any time.
    let server = ListServer(#"["com.example.coins"]"#)
    let source = ProductIdentifierSource(
      transport: server, base: try RemoteURL("https://example.com"), formatVersion: 1)
    #expect(try await source.load().list.identifiers == ["com.example.coins"])
    await server.has(#"["com.example.coins", "com.example.news.monthly"]"#)
    #expect(
      try await source.load().list.identifiers == ["com.example.coins", "com.example.news.monthly"])
    // A server that is down has no list.
    await server.answers { _ in .failure(HTTPTransportError(.cannotConnect, "down")) }
    await #expect(throws: ProductIdentifierError.self) {
      try await ProductIdentifierSource(
        transport: server, base: try RemoteURL("https://example.com"), formatVersion: 1,
        retry: .once(within: .seconds(1))
      ).load()
    }
    #expect(try ProductIdentifierList(in: folder.url) == embedded)
  }

  @Test("Product-list guide: Server JSON", .timeLimit(.minutes(1))) @MainActor
  func theServersListIsFetchedInTheBackgroundAndDeliveredOnTheMainActor() async throws {
    let folder = try ListFolder()
    let threads = Lines()
    let server = ListServer { request in
      threads.log("request \(Self.isOnMainQueue)")
      let date = "Tue, 14 Nov 2023 22:13:20 GMT"
      let isSame = request.value("If-Modified-Since") == date
      return .success(
        RemoteResponse(
          status: isSame ? 304 : 200, headers: [HTTPHeader("Last-Modified", date)],
          body: isSame ? [] : Array(#"["a", "a"]"#.utf8)))
    }
    let source = ProductIdentifierSource(
      transport: server, base: try RemoteURL("https://example.com"), formatVersion: 2,
      cacheFile: folder.url.appending(path: "cache"),
      log: { _ in threads.log("parse \(Self.isOnMainQueue)") })
    // Versioned, fetched and parsed on another thread, delivered on the main one.
    let first = await withCheckedContinuation { continuation in
      source.load { result in
        threads.log("deliver \(Self.isOnMainQueue)")
        continuation.resume(returning: result)
      }
    }
    #expect(try first.get().list.identifiers == ["a"])
    #expect(threads.all == ["request false", "parse false", "deliver true"])
    #expect(await server.requests[0].url.path == "/products_v2.json")
    // The next request is conditional.
    let second = try await source.load()
    #expect(await server.requests[1].value("If-Modified-Since") == "Tue, 14 Nov 2023 22:13:20 GMT")
    #expect(second.freshness == .notModified)
    #expect(second.list.identifiers == ["a"])
    // Neither no data nor what cannot be parsed is a list.
    for body in ["", "{", "nil"] {
      await server.answers { _ in .success(RemoteResponse(status: 200, body: Array(body.utf8))) }
      let result = try await source.load()
      guard case .stale = result.freshness else {
        Issue.record("\(result.freshness)")
        continue
      }
      #expect(result.list.identifiers == ["a"])
    }
  }

  @Test("Product-list guide: Foundation calls in samples") @MainActor
  func theSamplesWalkFromTheResourceToThePrice() async throws {
    // URLForResource:, arrayWithContentsOfURL:
    let folder = try ListFolder()
    _ = try folder.write(propertyList, to: "product_ids.plist")
    let list = try ProductIdentifierList(resource: "product_ids", in: folder.url)
    // dataWithContentsOfURL:, JSONObjectWithData:options:error:
    let json = try Data(
      contentsOf: folder.write(#"["com.example.coins", "com.example.gems"]"#, to: "ids.json"))
    #expect(try ProductIdentifierList(json: Array(json)) == list)
    // setWithArray:, the request, NSLog
    let log = Lines()
    let store = CatalogStore(try CatalogSamples.catalog, storefrontLocale: Locale(identifier: "fr_FR"))
    let request = ProductsRequest(productIdentifiers: Set(list.identifiers), store: store, log: log.log)
    // dispatch_async to a global queue and back to the main one: await.
    let response = try await request.response()
    #expect(Self.isOnMainQueue)
    #expect(log.all.count == 1)
    // setFormatterBehavior:, setNumberStyle:, setLocale:, stringFromNumber:
    let formatter = NumberFormatter()
    formatter.numberStyle = .currency
    let product = try #require(response.products.first)
    formatter.locale = product.priceLocale
    #expect(formatter.string(from: NSDecimalNumber(decimal: product.price)) == product.localizedPrice)
    #expect(product.localizedPrice == "0,99\u{A0}€")
  }
}
