// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptBytes
import Testing

@Suite final class FileSystemTests {
  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "/files-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  @Test func `a file is created atomically, with its permissions, and never replaces another`() throws {
    let contents = [UInt8](repeating: 7, count: 100_000)
    try FileSystem.create(path("a"), permissions: 0o600, contents: contents)
    #expect(try FileSystem.read(path("a"), limit: 100_000) == contents)
    #expect(try FileSystem.read(path("a"), limit: 99_999) == nil)
    let status = try #require(try FileSystem.status(path("a")))
    #expect(status.permissions == 0o600)
    #expect(status.isRegularFile && status.byteCount == 100_000)
    let error = #expect(throws: SystemError.self) {
      try FileSystem.create(path("a"), permissions: 0o600, contents: [])
    }
    #expect(error?.isExisting == true)
    #expect(try FileSystem.read(path("a"), limit: 100_000) == contents)
  }

  @Test func `an absent file is nil, or an error that says so`() throws {
    #expect(try FileSystem.status(path("absent")) == nil)
    let error = #expect(throws: SystemError.self) { try FileSystem.read(path("absent"), limit: 9) }
    #expect(error?.isMissing == true)
    #expect(error?.reason == "No such file or directory")
    try FileSystem.remove(path("absent"))
  }

  @Test func `links are not followed where a file is written`() throws {
    try FileSystem.create(path("target"), permissions: 0o644, contents: [1])
    try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("target"))
    for access in [File.Access.creating, .updating, .replacing, .readingItself] {
      #expect(throws: SystemError.self) { try File(path("link"), access).write([2]) }
    }
    #expect(try FileSystem.read(path("link"), limit: 9) == [1])
    #expect(try FileSystem.linkStatus(path("link"))?.isRegularFile == false)
    #expect(FileSystem.resolved(path("link"))?.hasSuffix("/target") == true)
    #expect(FileSystem.resolved(path("absent")) == nil)
  }

  @Test func `a descriptor has the identity of its file`() throws {
    try FileSystem.create(path("a"), permissions: 0o600, contents: [1])
    let file = try File(path("a"), .reading)
    let status = try #require(try FileSystem.status(path("a")))
    #expect(file.status?.identity == status.identity)
    #expect(FileSystem.status(ofDescriptor: -1) == nil)
  }

  @Test func `a lock keeps others out until its file is closed`() throws {
    do {
      let first = try File(path("lock"), .updating)
      #expect(try first.lock())
      let second = try File(path("lock"), .updating)
      #expect(try !second.lock(within: .milliseconds(20)))
      withExtendedLifetime(first) {}
    }
    #expect(try File(path("lock"), .updating).lock())
  }

  @Test func `parts of a file are read and written at their offsets`() throws {
    let file = try File(path("parts"), .updating, permissions: 0o600)
    try file.write([1, 2, 3, 4])
    #expect(try file.read(at: 1, count: 2) == [2, 3])
    #expect(try file.read(at: 3, count: 9) == [4])
    #expect(try file.seekToEnd() == 4)
    file.truncate(to: 2)
    #expect(file.status?.byteCount == 2)
  }

  @Test func `an empty directory is removed, another one is not`() throws {
    try FileSystem.makeDirectory(path("d"), permissions: 0o700)
    try FileSystem.create(path("d/a"), permissions: 0o600, contents: [])
    #expect(try FileSystem.names(in: path("d")) == ["a"])
    #expect(try !FileSystem.removeDirectory(path("d")))
    try FileSystem.remove(path("d/a"))
    #expect(try FileSystem.removeDirectory(path("d")))
    #expect(FileSystem.directory(of: "/a") == "/")
    #expect(FileSystem.directory(of: "a") == ".")
    #expect(FileSystem.directory(of: "b/a") == "b")
  }
}
