// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
  import Foundation
  import Storefront
  import StorefrontSQLite
  import Testing

  @Suite("Payment queue: killed processes", .timeLimit(.minutes(10)))
  struct KilledProcessTests {
    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("store-bench")

    private static let isPresent: Bool = {
      if FileManager.default.isExecutableFile(atPath: executable.path) { return true }
      FileHandle.standardError.write(
        Data("SKIPPED: store-bench is not beside the tests; looked for \(executable.path).\n".utf8))
      return false
    }()

    @Test(
      "has everything that was acknowledged, and charges nothing twice",
      .enabled(if: isPresent, "store-bench is not beside the tests"))
    func killed() async throws {
      let folder = try TemporaryFolder()
      var added: Set<String> = []
      var finished: Set<String> = []
      var delivered: [String: Set<String>] = [:]
      var numbers = SeededNumbers(seed: 11)
      for _ in 0..<(fullSweeps ? 100 : 8) {
        let lines = try run(in: folder.path, milliseconds: .random(in: 30...400, using: &numbers))
        for words in lines.map({ $0.split(separator: " ").map(String.init) }) {
          switch words[0] {
          case "added":
            #expect(added.insert(words[1]).inserted, "The number \(words[1]) was given twice.")
          case "delivered": delivered[words[1], default: []].insert(words[2])
          case "finished": finished.insert(words[1])
          default: Issue.record("The process said: \(words)")
          }
        }
        // The queue as the next process finds it. This store must not take the finishes that are left: the process's
        // own store would never hear of them, and would have its sales delivered anew.
        let storage = try SQLiteRecordStorage(
          at: folder.file("worker.queue"), busyTimeout: .seconds(30))
        let queue = try PaymentQueue(store: FixedSales(takesFinishes: false), storage: storage)
        let open = Set(await queue.transactions.map { $0.id.rawValue })
        try await queue.close()
        #expect(open.isDisjoint(with: finished))
        // Every added payment is in the queue or was delivered: its finish may have been stored but not acknowledged.
        for id in added where !open.contains(id) { #expect(delivered[id] != nil, "\(id) was lost.") }
      }
      #expect(added.count > 8)
      let notes = try String(contentsOfFile: folder.file("charges"), encoding: .utf8)
      let charges = notes.split(separator: "\n").filter { $0.hasPrefix("charge") }
        .map { $0.split(separator: " ").map(String.init) }
      #expect(Set(charges.map { $0[1] }).count == charges.count, "A request was charged twice.")
      // One sale for each transaction, one transaction for each sale.
      let receipts = delivered.values.flatMap { $0 }
      #expect(delivered.values.allSatisfy { $0.count == 1 })
      #expect(Set(receipts).count == receipts.count)
      #expect(charges.count >= delivered.count)
    }

    @Test(
      "unlocks every sale of a store in a file exactly once",
      .enabled(if: isPresent, "store-bench is not beside the tests"))
    func unlocked() async throws {
      let folder = try TemporaryFolder()
      var numbers = SeededNumbers(seed: 12)
      for _ in 0..<(fullSweeps ? 200 : 8) {
        _ = try run("shop", in: folder.path, milliseconds: .random(in: 30...300, using: &numbers))
      }
      let store = try StoreFixture().store(
        on: SQLiteRecordStorage(at: folder.file("shop.sqlite"), busyTimeout: .seconds(30)))
      let queue = try PaymentQueue(
        store: store.session(account: "customer"),
        storage: SQLiteRecordStorage(at: folder.file("shop.queue"), busyTimeout: .seconds(30)))
      let notes = try String(contentsOfFile: folder.file("unlocked"), encoding: .utf8)
      var unlocked = notes.split(separator: "\n").map(String.init)
      #expect(Set(unlocked).count == unlocked.count)
      // The next process unlocks what was sold and not unlocked.
      try await queue.synchronize()
      for transaction in await queue.transactions {
        guard let sale = transaction.transactionIdentifier, !unlocked.contains(sale) else { continue }
        unlocked.append(sale)
      }
      var sold: [RecordedPurchase] = []
      while case let page = try await store.purchaseRecord(
        of: "customer", after: sold.last?.transaction.transactionIdentifier), !page.isEmpty
      {
        sold += page
      }
      #expect(sold.count > 8)
      #expect(Set(unlocked) == Set(sold.map(\.transaction.transactionIdentifier)))
      #expect(Set(sold.map(\.transaction.requestIdentifier)).count == sold.count)
      #expect(try await store.notifications(limit: .max).count == sold.count)
      try await queue.close()
    }

    /// Lets the process work for a while, and kills it.
    private func run(_ work: String = "work", in directory: String, milliseconds: Int) throws -> [String] {
      let process = Process()
      let output = Pipe()
      process.executableURL = Self.executable
      process.arguments = [work, directory]
      process.standardOutput = output
      try process.run()
      let killing = Thread {
        usleep(UInt32(milliseconds) * 1000)
        kill(process.processIdentifier, SIGKILL)
      }
      killing.start()
      let printed = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      #expect(process.terminationReason == .uncaughtSignal, "It ended of itself.")
      // The last line may be truncated.
      return String(decoding: printed, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        .dropLast().map(String.init)
    }
  }
#endif
