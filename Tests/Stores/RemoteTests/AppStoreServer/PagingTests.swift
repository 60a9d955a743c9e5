// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import ReceiptTesting
import ReceiptVerification
import Synchronization
import Testing

/// Histories as sequences.
@Suite struct PagingTests {
  /// A server with so many pages of `perPage` times the same transaction, whose revisions are r1, r2…
  private static func server(pages: Int, perPage: Int = 20) throws -> FakeTransport {
    let compact = try TestReceipts().signedTransaction()
    let list = Array(repeating: "\"\(compact)\"", count: perPage).joined(separator: ",")
    return FakeTransport { request throws(HTTPTransportError) in
      let revision = request.url.query?.split(separator: "&").first { $0.hasPrefix("revision=") }
      let number = revision.flatMap { Int($0.dropFirst("revision=r".count)) } ?? 0
      return .json(
        #"{"signedTransactions":[\#(list)],"hasMore":\#(number + 1 < pages),"revision":"r\#(number + 1)"}"#)
    }
  }

  /// Reads a sequence to its end.
  private static func read<Element>(
    _ pages: AppStoreServerPages<Element>
  ) async -> (count: Int, error: AppStoreServerError?) {
    var count = 0
    do throws(AppStoreServerError) {
      for try await _ in pages { count += 1 }
      return (count, nil)
    } catch {
      return (count, error)
    }
  }

  @Test("a history is requested page by page, with the same filters")
  func allPages() async throws {
    let transport = try Self.server(pages: 3)
    let filter = TransactionHistoryFilter().with {
      $0.productIds = ["p"]
      $0.sort = .descending
    }
    let history = try StoreServer.client(transport).pages(.transactionHistory(of: "1", filter: filter))
    #expect(transport.requests.isEmpty)
    let (count, error) = await Self.read(history)
    #expect(count == 60 && error == nil)
    let query = "productId=p&sort=DESCENDING"
    #expect(
      transport.requests.map(\.url.target) == [
        "/inApps/v2/history/1?\(query)", "/inApps/v2/history/1?revision=r1&\(query)",
        "/inApps/v2/history/1?revision=r2&\(query)",
      ])
    // Iterating again begins again.
    #expect(await Self.read(history).count == 60)
    #expect(transport.requests.count == 6)
  }

  @Test("no page is requested before its first element is needed")
  func laziness() async throws {
    let transport = try Self.server(pages: 500)
    var iterator = try StoreServer.client(transport).pages(.transactionHistory(of: "1")).makeAsyncIterator()
    for index in 0..<60 {
      let transaction = try await iterator.next()
      #expect(transaction?.payload.transactionId == "2000000001")
      #expect(transport.requests.count == index / 20 + 1)
    }
  }

  @Test("a history of 10,000 transactions, all verified")
  func longHistory() async throws {
    let transport = try Self.server(pages: 500)
    let (count, error) = await Self.read(
      try StoreServer.client(transport).pages(.transactionHistoryV1(of: "1")))
    #expect(count == 10_000 && error == nil)
    #expect(transport.requests.count == 500)
  }

  @Test("empty pages in between are skipped")
  func emptyPages() async throws {
    let (count, error) = await Self.read(
      try StoreServer.client(Self.server(pages: 4, perPage: 0)).pages(.refundHistory(of: "1")))
    #expect(count == 0 && error == nil)
  }

  @Test(
    "a page that leads back ends the sequence with an error",
    arguments: [["a"], ["a", "b"], ["a", "b", "c"]])
  func loops(revisions: [String]) async throws {
    let compact = try TestReceipts().signedTransaction()
    let next = Mutex(0)
    let transport = FakeTransport { _ throws(HTTPTransportError) in
      let index = next.withLock { index in
        defer { index += 1 }
        return index
      }
      // So that a client that goes round fails rather than goes on.
      guard index < 10 else { throw HTTPTransportError(.unusable, "the same pages again") }
      let revision = revisions[index % revisions.count]
      return .json(#"{"signedTransactions":["\#(compact)"],"hasMore":true,"revision":"\#(revision)"}"#)
    }
    let (count, error) = await Self.read(
      try StoreServer.client(transport).pages(.transactionHistory(of: "1")))
    #expect(count == revisions.count)
    #expect(transport.requests.count == revisions.count + 1)
    guard case .malformedResponse(let malformed) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(malformed.code == .duplicate && malformed.place == .jsonPath("$.revision"))
  }

  @Test(
    "a page without a continuation token is an error, not the end",
    arguments: [
      ("{}", "$.hasMore"), (#"{"hasMore":true}"#, "$.revision"),
      (#"{"hasMore":true,"revision":""}"#, "$.revision"), (#"{"hasMore":null,"revision":"r"}"#, "$.hasMore"),
    ])
  func openEnd(body: String, place: String) async throws {
    let client = try StoreServer.client(FakeTransport(.json(body)))
    for pages in [client.pages(.transactionHistory(of: "1")), client.pages(.refundHistory(of: "1"))] {
      let (_, error) = await Self.read(pages)
      guard case .malformedResponse(let malformed) = error?.cause else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(malformed.code == .missing && malformed.place == .jsonPath(place))
    }
  }

  @Test("a bad transaction invalidates its page, is named in the error, and ends the sequence")
  func badTransaction() async throws {
    let receipts = try TestReceipts()
    let good = try receipts.signedTransaction()
    let bad = try receipts.signedTransaction { $0.bundleId = "com.example.other" }
    let transport = FakeTransport([
      .success(.json(#"{"signedTransactions":["\#(good)"],"hasMore":true,"revision":"r"}"#)),
      .success(.json(#"{"signedTransactions":["\#(good)","\#(bad)"],"hasMore":true,"revision":"s"}"#)),
    ])
    var iterator = try StoreServer.client(transport).pages(.transactionHistory(of: "1")).makeAsyncIterator()
    #expect(try await iterator.next()?.compact == good)
    var failure: AppStoreServerError?
    do throws(AppStoreServerError) { _ = try await iterator.next() } catch { failure = error }
    guard case .notVerified(let part) = failure?.cause else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(part.place == "$.signedTransactions[1]" && part.code == .wrongBundle)
    #expect(try await iterator.next() == nil)
    #expect(transport.requests.count == 2)
  }

  @Test("a history of another app or environment is refused by the fields of the response")
  func envelope() async throws {
    let transport = FakeTransport(.json(#"{"environment":"Production","hasMore":false}"#))
    let (_, error) = await Self.read(try StoreServer.client(transport).pages(.transactionHistory(of: "1")))
    guard case .notVerified(let part) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(part.place == "$.environment" && part.code == .wrongEnvironment)
  }

  @Test("notifications page by token, with the same body")
  func notifications() async throws {
    let signed = try TestReceipts().signedNotification()
    let item = #"{"signedPayload":"\#(signed)","sendAttempts":[{"sendAttemptResult":"SUCCESS"}]}"#
    let transport = FakeTransport([
      .success(.json(#"{"notificationHistory":[\#(item),\#(item)],"hasMore":true,"paginationToken":"t/1"}"#)),
      .success(.json(#"{"notificationHistory":[\#(item)],"hasMore":false,"paginationToken":"t/1"}"#)),
    ])
    let request = NotificationHistoryRequest(
      startDate: Timestamp(secondsSince1970: 0), endDate: Timestamp(secondsSince1970: 1))
    var found: [NotificationType?] = []
    for try await sent in try StoreServer.client(transport).pages(.notificationHistory(request)) {
      found.append(sent.notification.payload.notificationType)
      #expect(sent.sendAttempts.count == 1)
    }
    #expect(found == [.subscribed, .subscribed, .subscribed])
    #expect(
      transport.requests.map(\.url.target) == [
        "/inApps/v1/notifications/history", "/inApps/v1/notifications/history?paginationToken=t%2F1",
      ])
    #expect(Set(transport.requests.map(\.body)).count == 1)
  }

  @Test("members of a group page by token, with the same limit")
  func groupMembers() async throws {
    let transport = FakeTransport([
      .success(.json(#"{"members":[{"appTransactionId":"a"}],"hasMore":true,"paginationToken":"t"}"#)),
      .success(.json(#"{"members":[{"appTransactionId":"b"}],"hasMore":false}"#)),
    ])
    var members: [String?] = []
    for try await member in try StoreServer.client(transport).pages(.groupMembers(of: "g", limit: 1)) {
      members.append(member.appTransactionId)
    }
    #expect(members == ["a", "b"])
    #expect(
      transport.requests.map(\.url.target) == [
        "/groups/v1/group/g?limit=1", "/groups/v1/group/g?limit=1&paginationToken=t",
      ])
  }
}
