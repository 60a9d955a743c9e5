// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Foundation
import Testing
import TransparencyLog

/// The contents of a folder after several exports to it.
@Suite struct ExportedFilesTests {
  private func withFolder(_ body: (TrailFixture, AuditLog, TileDirectory) async throws -> Void) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/exported-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let fixture = try TrailFixture()
    try await body(fixture, try fixture.create(), TileDirectory(path: path))
  }

  private func append(_ numbers: Range<Int>, to log: AuditLog) async throws {
    try await log.append(numbers.map { TrailFixture.record($0, token: Self.secret($0)) })
    try log.publishCheckpoint()
  }

  private static func secret(_ number: Int) -> String { "secret of customer \(number)." }

  private func files(in directory: TileDirectory) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
      var isDirectory = false
      _ = FileManager.default.fileExists(atPath: "\(directory.path)/\(name)", isDirectory: &isDirectory)
      if isDirectory { continue }
      files[name] = Array(try #require(FileManager.default.contents(atPath: "\(directory.path)/\(name)")))
    }
    return files
  }

  /// The numbers of the customers whose secrets are somewhere in the folder's bytes.
  private func exposed(_ numbers: Range<Int>, in directory: TileDirectory) throws -> [Int] {
    let contents = try files(in: directory).values.map { Data($0) }
    return numbers.filter { number in
      contents.contains { $0.range(of: Data(Self.secret(number).utf8)) != nil }
    }
  }

  private func write(_ text: String, to name: String, in directory: TileDirectory) throws {
    let file = "\(directory.path)/\(name)"
    let folder = String(file[..<(try #require(file.lastIndex(of: "/")))])
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try #require(FileManager.default.createFile(atPath: file, contents: Data(text.utf8)))
  }

  @Test("a second export into a folder is refused while the first is writing")
  func twoAtOnce() async throws {
    try await withFolder { _, log, directory in
      try await append(0..<300, to: log)
      var refusals: [StorageError.Code?] = []
      try log.export(to: directory, includingErasableParts: true) { _, _ in
        refusals.append(storageCode { try log.export(to: directory) })
      }
      #expect(!refusals.isEmpty && refusals.allSatisfy { $0 == .busy })
      #expect(try exposed(0..<300, in: directory) == Array(0..<300))
      try log.export(to: directory)
      #expect(try exposed(0..<300, in: directory) == [])
    }
  }

  @Test("erasable parts are readable by their owner alone, from the first byte and after every export")
  func modes() async throws {
    try await withFolder { _, log, directory in
      try await append(0..<300, to: log)
      for _ in 0..<2 {
        // A file that an interrupted export of an earlier version left.
        try write("unfinished", to: "erasable/000.new", in: directory)
        try log.export(to: directory, includingErasableParts: true)
        for name in try files(in: directory).keys {
          let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/\(name)")
          let mode = name.hasPrefix("erasable/") ? 0o600 : 0o644
          #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
      }
    }
  }

  @Test("an export without erasable parts removes those of an earlier export", arguments: [20, 256, 300])
  func withThenWithout(count: Int) async throws {
    try await withFolder { _, log, directory in
      try await append(0..<count, to: log)
      try log.export(to: directory, includingErasableParts: true)
      #expect(try exposed(0..<count, in: directory) == Array(0..<count))
      try log.export(to: directory)
      #expect(try exposed(0..<count, in: directory) == [])
      #expect(!FileManager.default.fileExists(atPath: directory.path + "/erasable"))
      let fresh = TileDirectory(path: directory.path + "-fresh")
      defer { try? FileManager.default.removeItem(atPath: fresh.path) }
      try log.export(to: fresh)
      #expect(try files(in: directory) == files(in: fresh))
    }
  }

  @Test(
    "an export with erasable parts has none of entries that were erased since", arguments: [20, 256, 300])
  func erasedSince(count: Int) async throws {
    try await withFolder { fixture, log, directory in
      try await append(0..<count, to: log)
      try log.export(to: directory, includingErasableParts: true)
      try await log.erase(entry: 7)
      try await log.erase(entry: UInt64(count - 1))
      try log.publishCheckpoint()
      try log.export(to: directory, includingErasableParts: true)
      #expect(try exposed(0..<count, in: directory) == (0..<count - 1).filter { $0 != 7 })
      let copy = MemoryStorage()
      try TrailImport(
        directory: directory, configuration: TrailConfiguration(origin: TrailFixture.origin),
        signer: fixture.signer, checkpoints: fixture.checkpoints
      ).run(into: copy)
      let tokens = try fixture.open(copy).withView { view in
        try [view.erasablePart(at: 7), view.erasablePart(at: 8)].map { $0?.customerToken }
      }
      #expect(tokens == [nil, Self.secret(8)])
    }
  }

  @Test("erasable parts of a bundle that has grown, or was not finished, do not stay")
  func grownBundle() async throws {
    try await withFolder { _, log, directory in
      try await append(0..<40, to: log)
      try log.export(to: directory, includingErasableParts: true)
      try await log.erase(entry: 7)
      try await append(40..<90, to: log)
      for name in ["erasable/000.p/44.new", "erasable/000.new", "tile/0/000.p/12.new"] {
        try write(Self.secret(7), to: name, in: directory)
      }
      #expect(try exposed(7..<8, in: directory) == [7])
      try log.export(to: directory, includingErasableParts: true)
      #expect(try exposed(0..<90, in: directory) == (0..<90).filter { $0 != 7 })
      #expect(try files(in: directory).keys.filter { $0.hasPrefix("erasable") } == ["erasable/000.p/91"])
    }
  }

  @Test("partial tiles and bundles stay until the full ones are there")
  func partialTiles() async throws {
    try await withFolder { _, log, directory in
      try await append(0..<100, to: log)
      try log.export(to: directory)
      try await append(100..<200, to: log)
      try log.export(to: directory)
      let partial =
        ["checkpoint"] + ["0", "entries"].flatMap { ["tile/\($0)/000.p/100", "tile/\($0)/000.p/200"] }
      #expect(try files(in: directory).keys.sorted() == partial.sorted())
      try await append(200..<300, to: log)
      try log.export(to: directory)
      #expect(
        try files(in: directory).keys.sorted() == [
          "checkpoint", "tile/0/000", "tile/0/001.p/44", "tile/1/000.p/1", "tile/entries/000",
          "tile/entries/001.p/44",
        ])
      #expect(!FileManager.default.fileExists(atPath: directory.path + "/tile/0/000.p"))
    }
  }

  @Test(
    "a file that no export writes is refused, and nothing is changed",
    arguments: [
      "tile/notes.txt", "erasable/backup.sql", "tile/0/0", "tile/entries/000.p/256", "erasable/x001/1",
    ])
  func foreignFile(name: String) async throws {
    try await withFolder { _, log, directory in
      try await append(0..<20, to: log)
      try log.export(to: directory, includingErasableParts: true)
      try write("mine", to: name, in: directory)
      let before = try files(in: directory)
      try await append(20..<40, to: log)
      let error = #expect(throws: AuditError.self) { try log.export(to: directory) }
      #expect(error?.code == .alreadyExists)
      #expect(error?.place == "\(directory.path)/\(name)")
      #expect(try files(in: directory) == before)
    }
  }

  @Test("a symbolic link in the place of a folder is refused, and what it leads to stays")
  func symbolicLink() async throws {
    try await withFolder { _, log, directory in
      try await append(0..<20, to: log)
      try write("mine", to: "elsewhere/000", in: directory)
      try FileManager.default.createSymbolicLink(
        atPath: directory.path + "/erasable", withDestinationPath: directory.path + "/elsewhere")
      let error = #expect(throws: AuditError.self) { try log.export(to: directory) }
      #expect(error?.code == .alreadyExists)
      #expect(error?.place == directory.path + "/erasable")
      #expect(FileManager.default.fileExists(atPath: directory.path + "/elsewhere/000"))
    }
  }

  @Test("files beside those of an export are left alone")
  func filesBeside() async throws {
    try await withFolder { _, log, directory in
      try await append(0..<20, to: log)
      for name in ["index.html", ".well-known/security.txt", "tiles/000", "checkpoint.txt"] {
        try write("mine", to: name, in: directory)
      }
      try log.export(to: directory, includingErasableParts: true)
      try log.export(to: directory)
      let mine = try files(in: directory).filter { $0.value == Array("mine".utf8) }.keys
      #expect(mine.sorted() == [".well-known/security.txt", "checkpoint.txt", "index.html", "tiles/000"])
    }
  }

  @Test("the export of another log, of a newer checkpoint or of another history is not overwritten")
  func otherLogs() async throws {
    try await withFolder { fixture, log, directory in
      try await append(0..<20, to: log)
      try log.export(to: directory)
      func refusal() throws -> AuditError? {
        let before = try files(in: directory)
        let error = #expect(throws: AuditError.self) { try log.export(to: directory) }
        #expect(try files(in: directory) == before)
        #expect(error?.place == "\(directory.path)/checkpoint")
        return error
      }
      // Another history under the same name and key, first as long, then longer.
      let other = try TrailFixture(signer: fixture.signer)
      let fork = try other.create()
      let forkFolder = TileDirectory(path: directory.path + "-fork")
      defer { try? FileManager.default.removeItem(atPath: forkFolder.path) }
      for (numbers, code) in [(100..<120, AuditError.Code.forked), (120..<140, .rolledBack)] {
        try await append(numbers, to: fork)
        try fork.export(to: forkFolder)
        let forked = try #require(files(in: forkFolder)["checkpoint"])
        try write(String(decoding: forked, as: UTF8.self), to: "checkpoint", in: directory)
        #expect(try refusal()?.code == code)
      }
      for text in ["no checkpoint", "example.com/other\n1\n\(String(repeating: "A", count: 43))=\n\n"] {
        try write(text, to: "checkpoint", in: directory)
        #expect(try refusal()?.code == .alreadyExists)
      }
    }
  }

  @Test(
    "whatever was done to the files of an export, the next one writes them as they were",
    arguments: [20, 300])
  func damagedFiles(count: Int) async throws {
    try await withFolder { fixture, log, directory in
      try await append(0..<count, to: log)
      try log.export(to: directory, includingErasableParts: true)
      let before = try files(in: directory)
      for name in before.keys where name != "checkpoint" {
        let bytes = try #require(before[name])
        for forged in [[], Array("mine".utf8), bytes.dropLast() + [bytes[bytes.count - 1] ^ 1], bytes + [0]] {
          try #require(
            FileManager.default.createFile(atPath: "\(directory.path)/\(name)", contents: Data(forged)))
          try log.export(to: directory, includingErasableParts: true)
          #expect(try files(in: directory) == before, "\(name)")
        }
      }
    }
  }

  @Test("files are checked although a checkpoint that nobody has signed says that they were exported")
  func unsignedCheckpoint() async throws {
    try await withFolder { fixture, log, directory in
      try await append(0..<300, to: log)
      let checkpoint = try #require(try log.withView { $0.checkpoint }).signed
      var text = String(decoding: checkpoint.encoded, as: UTF8.self)
      // The signature with another bit.
      let place = text.index(text.endIndex, offsetBy: -20)
      text.replaceSubrange(place...place, with: text[place] == "A" ? "B" : "A")
      try write(text, to: "checkpoint", in: directory)
      for name in ["tile/0/000", "tile/entries/000", "tile/1/000.p/1"] {
        try write("forged", to: name, in: directory)
      }
      try log.export(to: directory)
      let report = try TileDirectoryChecker(directory: directory, verifier: fixture.signer.verifierKey)
        .check()
      #expect(report.faults == [])
    }
  }

  @Test(
    "other files named as those of an export are refused, and nothing is changed",
    arguments: ["keys", "policies"])
  func strangersFiles(name: String) async throws {
    try await withFolder { _, log, directory in
      try await append(0..<20, to: log)
      try write("mine", to: name, in: directory)
      for _ in 0..<2 {
        let before = try files(in: directory)
        let error = #expect(throws: AuditError.self) { try log.export(to: directory) }
        #expect(error?.code == .alreadyExists && error?.place == "\(directory.path)/\(name)")
        #expect(try files(in: directory) == before)
        // The same beside an earlier export.
        try FileManager.default.removeItem(atPath: "\(directory.path)/\(name)")
        try log.export(to: directory)
        try write("mine", to: name, in: directory)
      }
    }
  }

  @Test("the check of an export with erasable parts finds whatever is wrong with them", arguments: [20, 300])
  func erasablePartsAreChecked(count: Int) async throws {
    try await withFolder { fixture, log, directory in
      try await append(0..<count, to: log)
      try log.export(to: directory, includingErasableParts: true)
      let older = try #require(try files(in: directory).first { $0.key.hasPrefix("erasable/000") }).value
      try await log.erase(entry: 7)
      try log.publishCheckpoint()
      try log.export(to: directory, includingErasableParts: true)
      func faults() throws -> [TrailFault] {
        try TileDirectoryChecker(directory: directory, verifier: fixture.signer.verifierKey).check().faults
      }
      #expect(try faults() == [])
      let genuine = try files(in: directory)
      let (name, bytes) = try #require(genuine.first { $0.key.hasPrefix("erasable/000") })
      let file = "\(directory.path)/\(name)"
      func codes(_ changed: [UInt8]?) throws -> [String] {
        if let changed {
          try #require(FileManager.default.createFile(atPath: file, contents: Data(changed)))
        } else {
          try FileManager.default.removeItem(atPath: file)
        }
        defer { _ = FileManager.default.createFile(atPath: file, contents: Data(bytes)) }
        return try faults().map { "\($0.code.rawValue) \($0.index ?? 0)" }
      }
      var altered = bytes
      altered[20] ^= 1
      #expect(try codes(altered) == ["altered-erasable-part 0"])
      // The file of before the erasure has the part of entry 7 again.
      #expect(try codes(older + (count < 256 ? [0, 0, 0, 0] : [])) == ["unrecorded-erasure 7"])
      // The first part is gone, and no entry says so.
      let length = Int(bytes[3]) | Int(bytes[2]) << 8
      #expect(try codes([0, 0, 0, 0] + bytes.dropFirst(4 + length)) == ["unrecorded-erasure 0"])
      #expect(try codes(Array(bytes.dropLast())).first == "altered-erasable-part 0")
      try write("", to: "erasable/123", in: directory)
      #expect(try faults().map(\.place) == ["erasable/123"])
      try FileManager.default.removeItem(atPath: directory.path + "/erasable/123")
      if count > 256 { #expect(try codes(nil).first == "altered-erasable-part 0") }
      #expect(try faults() == [])
    }
  }

  @Test("an export that could not say what was erased is not written")
  func erasedAfterTheCheckpoint() async throws {
    try await withFolder { fixture, log, directory in
      try await append(0..<20, to: log)
      try await log.erase(entry: 7)
      let error = #expect(throws: AuditError.self) {
        try log.export(to: directory, includingErasableParts: true)
      }
      #expect(error?.code == .storageUnavailable && error?.place == "entry 7")
      try log.publishCheckpoint()
      try log.export(to: directory, includingErasableParts: true)
      let report = try TileDirectoryChecker(directory: directory, verifier: fixture.signer.verifierKey)
        .check()
      #expect(report.faults == [])
    }
  }

  @Test("an export that was cut off is written whole by the next one")
  func cutOff() async throws {
    try await withFolder { fixture, log, directory in
      try await append(0..<300, to: log)
      // Without a checkpoint nothing vouches for what is there.
      for name in ["tile/0/000", "tile/entries/000", "tile/1/000.p/1"] {
        try write("cut off", to: name, in: directory)
      }
      try log.export(to: directory)
      let report = try TileDirectoryChecker(directory: directory, verifier: fixture.signer.verifierKey)
        .check()
      #expect(report.faults == [])
    }
  }
}
