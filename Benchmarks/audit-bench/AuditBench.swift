// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailSQLite
import Glibc
import Measuring
import TransparencyLog

/// Measures an audit trail beside a raw probe of the same disk, in one run.
///
/// usage: audit-bench append DIRECTORY ENTRIES
///        audit-bench open DIRECTORY
///        audit-bench read DIRECTORY
///        audit-bench one-by-one DIRECTORY ENTRIES
///        audit-bench check DIRECTORY
///        audit-bench index DIRECTORY ENTRIES
///        audit-bench erase DIRECTORY ENTRIES ERASED [--postgresql URL]
///        audit-bench postgresql ENTRIES    with the trait PostgreSQL, see ``PostgreSQLMeasurement``
@main
enum AuditBench {
  static func main() async throws {
    // As `receipt-tool audit append` does.
    FreedMemory.shareAmongThreads()
    let arguments = CommandLine.arguments
    switch (arguments.count, arguments.dropFirst().first) {
    case (4, "append"): try await append(directory: arguments[2], entries: Int(arguments[3]) ?? 1_000_000)
    case (3, "open"): try open(directory: arguments[2])
    case (3, "read"): try read(directory: arguments[2])
    case (4, "one-by-one"): try await oneByOne(directory: arguments[2], entries: Int(arguments[3]) ?? 1000)
    case (4, "index"):
      try IndexMeasurement.run(directory: arguments[2], entries: Int(arguments[3]) ?? 1_000_000)
    case (3, "check"): try check(directory: arguments[2])
    case (5, "erase"), (7, "erase"): try await erase(arguments)
    #if PostgreSQL
      case (3, "postgresql"): try await PostgreSQLMeasurement.run(entries: Int(arguments[2]) ?? 200_000)
    #endif
    default:
      throw Failure(
        "usage: audit-bench append DIRECTORY ENTRIES | open DIRECTORY | read DIRECTORY | one-by-one DIRECTORY ENTRIES"
          + " | check DIRECTORY | index DIRECTORY ENTRIES | erase DIRECTORY ENTRIES ERASED [--postgresql URL]"
      )
    }
  }

  private static func erase(_ arguments: [String]) async throws {
    guard let entries = Int(arguments[3]), let erased = Int(arguments[4]), 1...entries ~= erased,
      arguments.count == 5 || arguments[5] == "--postgresql"
    else { throw Failure("usage: audit-bench erase DIRECTORY ENTRIES ERASED [--postgresql URL]") }
    try await ErasureMeasurement(
      directory: arguments[2], url: arguments.count == 7 ? arguments[6] : nil
    ).run(entries: entries, erased: erased)
  }

  private static func create(_ directory: String) throws -> AuditLog {
    let signer = try NoteSignerKey.generate(name: "example.com/bench")
    try File.write(Array(signer.verifierKey.description.utf8), to: directory + "/bench.pub")
    return try AuditLog.create(
      in: SQLiteStorage(creatingAt: directory + "/bench.trail"),
      configuration: TrailConfiguration(origin: "example.com/bench"), signer: signer,
      checkpoints: FileCheckpointStore(path: directory + "/bench.checkpoint"))
  }

  /// Appends in batches of 1,024. Each client has one batch under way, so that one is prepared while another is stored.
  /// The raw probe runs in between, so that both see the same disk. The column "processor" is the time that all
  /// processors together spend on an entry.
  private static func append(directory: String, entries: Int) async throws {
    let log = try create(directory)
    let probe = try RawProbe(path: directory + "/bench.raw")
    var workload = Workload(seed: 1, entries: entries)
    let roundCount = (entries + roundEntries - 1) / roundEntries
    let section = max(1, roundCount / 10)
    var seconds = 0.0
    var processorSeconds = 0.0
    var longest = 0.0
    var ratios: [Double] = []
    var content = 0
    try probe.run(batches: 64)
    _ = probe.takeRate()
    print("\(clients) clients, each with a batch of \(batchEntries) under way")
    print("      entries   appends/s   raw/s      of raw   processor   longest batch   resident")
    for round in 0..<roundCount {
      let batches = (0..<roundBatches).map { _ in workload.batch(batchEntries) }
      content += try batches.joined().reduce(0) { try $0 + Workload.byteCount($1) }
      let start = (Clock.seconds(), Clock.seconds(CLOCK_PROCESS_CPUTIME_ID))
      longest = max(longest, try await append(batches, to: log))
      seconds += Clock.seconds() - start.0
      processorSeconds += Clock.seconds(CLOCK_PROCESS_CPUTIME_ID) - start.1
      try probe.run(batches: 4)
      if (round + 1).isMultiple(of: section) {
        let rate = Double(section * roundEntries) / seconds
        let raw = probe.takeRate()
        ratios.append(rate / raw)
        print(
          row([
            ("\((round + 1) * roundEntries)", 13), ("\(Int(rate))", 12), ("\(Int(raw))", 11),
            (rounded(rate / raw), 9),
            ("\(rounded(processorSeconds * 1e6 / Double(section * roundEntries), decimals: 1)) us", 12),
            ("\(rounded(longest * 1000)) ms", 16), ("\(memory("VmRSS")) MiB", 11),
          ]))
        seconds = 0
        processorSeconds = 0
        longest = 0
      }
    }
    print(
      "appends of raw: \(rounded(ratios.reduce(0, +) / Double(ratios.count))) mean, \(rounded(ratios.last ?? 0)) at the end"
    )
    try log.publishCheckpoint()
    let disk = try log.statistics()
    print(
      "disk: \(disk.storedByteCount / disk.entryCount) bytes an entry, \(content / Int(disk.entryCount)) of them the entry "
        + "with its erasable part")
    print("resident: \(memory("VmRSS")) MiB now, \(memory("VmHWM")) MiB at most")
    // Ends as a crash would: nothing is closed.
    fflush(nil)
    _exit(0)
  }

  private static let clients = 4
  private static let batchEntries = 1024
  private static let roundBatches = 16
  private static let roundEntries = roundBatches * batchEntries

  /// Returns how long the slowest batch took, in seconds.
  private static func append(_ batches: [[AuditRecord]], to log: AuditLog) async throws -> Double {
    try await withThrowingTaskGroup(of: Double.self) { group in
      for client in 0..<clients {
        group.addTask {
          var longest = 0.0
          for batch in stride(from: client, to: batches.count, by: clients) {
            let start = Clock.seconds()
            try await log.append(batches[batch])
            longest = max(longest, Clock.seconds() - start)
          }
          return longest
        }
      }
      return try await group.reduce(0) { max($0, $1) }
    }
  }

  /// Reads what `append` left at random places, in a process of its own: as the system's cache is, and once more the
  /// same, which is in the cache then.
  private static func read(directory: String) throws {
    let log = try openLog(directory)
    let disk = try log.statistics()
    for name in ["as the cache is", "the same again"] {
      print("reading, \(name):")
      let probe = try RandomReadProbe(path: directory + "/bench.trail")
      var places = Workload(seed: 3, entries: 1)
      try percentiles("  raw read of 16 KiB past the cache", 2000) {
        try probe.read(places.choose(below: probe.pageCount))
      }
      var workload = Workload(seed: 2, entries: Int(disk.entryCount))
      try measureReading(log, &workload, entries: Int(disk.entryCount))
    }
    print("resident: \(memory("VmRSS")) MiB now, \(memory("VmHWM")) MiB at most")
    try log.close()
  }

  private static func measureReading(_ log: AuditLog, _ workload: inout Workload, entries: Int) throws {
    let readBefore = RandomReadProbe.bytesReadFromDisk()
    try percentiles("  proof", 5000) {
      try log.withView { view in _ = try view.proof(of: UInt64(workload.choose(below: entries))) }
    }
    let read = (RandomReadProbe.bytesReadFromDisk() - readBefore) / 5000
    print("    \(read) bytes of a proof came from the disk, not from the cache")
    try percentiles("  entry by index", 5000) {
      try log.withView { view in _ = try view.entry(at: UInt64(workload.choose(below: entries))) }
    }
    try percentiles("  newest of an original transaction", 2000) {
      let original = Workload.original(UInt64(workload.choose(below: max(1, entries / 10))))
      try log.withView { view in _ = try view.history(original: original, limit: 1) }
    }
    var pages: [(before: UInt64, indices: [UInt64])] = []
    try percentiles("  history, a page of 100", 200) {
      let before = UInt64(entries / 2 + workload.choose(below: entries / 2))
      let page = try log.withView { view in
        try view.history(original: Workload.longHistory, before: before, limit: 100)
      }
      pages.append((before, page.map(\.index)))
    }
    // Only now, so that the pages were not in the cache before. How many entries stand before a place depends on the
    // order in which the clients' batches were appended; below 200,000 entries the first page may be the last as well.
    let all = try log.withView { view in try view.history(original: Workload.longHistory).map(\.index) }
    guard all.count == entries / 1000 else { throw Failure("A history of \(all.count) entries.") }
    for page in pages where page.indices != Array(all.drop { $0 >= page.before }.prefix(100)) {
      throw Failure(
        "A page of \(page.indices.count) entries before \(page.before) is not that of the history.")
    }
  }

  private static func percentiles(_ name: String, _ count: Int, _ body: () throws -> Void) throws {
    var times: [Double] = []
    for _ in 0..<count {
      let start = Clock.seconds()
      try body()
      times.append((Clock.seconds() - start) * 1000)
    }
    times.sort()
    print(
      "\(name): p50 \(rounded(times[count / 2])) ms, p99 \(rounded(times[count * 99 / 100])) ms, at most \(rounded(times[count - 1])) ms"
    )
  }

  private static func openLog(_ directory: String) throws -> AuditLog {
    let key = try NoteVerifierKey(
      String(decoding: File.contents(of: directory + "/bench.pub"), as: UTF8.self))
    return try AuditLog.open(
      SQLiteStorage(openingAt: directory + "/bench.trail"), verifier: key,
      checkpoints: FileCheckpointStore(path: directory + "/bench.checkpoint"))
  }

  /// Opens what `append` left, in a process of its own.
  private static func open(directory: String) throws {
    let start = Clock.seconds()
    let log = try openLog(directory)
    print("opening after a crash: \(rounded((Clock.seconds() - start) * 1000)) ms")
    try log.close()
  }

  /// The check of the whole trail.
  private static func check(directory: String) throws {
    let key = try NoteVerifierKey(
      String(decoding: File.contents(of: directory + "/bench.pub"), as: UTF8.self))
    let checker = TrailChecker(
      storage: try SQLiteStorage(openingAt: directory + "/bench.trail"), verifier: key,
      checkpoints: FileCheckpointStore(path: directory + "/bench.checkpoint"))
    let start = Clock.seconds()
    let report = try checker.check()
    print(
      "check of \(report.entryCount) entries: \(rounded(Clock.seconds() - start)) s, \(report.faults.count) faults, "
        + "\(memory("VmHWM")) MiB resident at most")
    for fault in report.faults.prefix(5) { print(fault) }
  }

  /// One client that waits for each acknowledgement.
  private static func oneByOne(directory: String, entries: Int) async throws {
    let log = try create(directory)
    var workload = Workload(seed: 2, entries: entries)
    let start = Clock.seconds()
    for _ in 0..<entries { try await log.append([workload.next()]) }
    print(
      "one client, one by one: \(Int(Double(entries) / (Clock.seconds() - start))) acknowledgements a second"
    )
    try log.close()
  }

  private static func row(_ cells: [(String, Int)]) -> String {
    cells.map { text, width in String(repeating: " ", count: max(0, width - text.utf8.count)) + text }
      .joined()
  }
}
