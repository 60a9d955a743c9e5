// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import Glibc
import ReceiptBytes

/// A file named on the command line, or standard input for `-`. It is read in pieces.
struct InputFile: ~Copyable {
  let name: String
  /// The length in bytes; `nil` unless it is a regular file.
  let byteCount: Int?
  private let descriptor: Int32
  private let isOwned: Bool

  /// Opens a file.
  ///
  /// - Throws: ``ReadFailure`` if the file does not exist, may not be read or is a directory.
  init(_ path: String) throws(ReadFailure) {
    let isStandardInput = path == "-"
    let opened = isStandardInput ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    let error = errno
    let status = opened < 0 ? nil : FileSystem.status(ofDescriptor: opened)
    let isOutput = Self.isOutput(status)
    let failure: String? =
      if opened < 0 {
        SystemError(number: error).reason
      } else if status?.isDirectory == true {
        "it is a directory; name the files in it"
      } else if isOutput {
        "it is also the standard output; write the output to another file"
      } else {
        nil
      }
    name = path
    descriptor = opened
    isOwned = !isStandardInput && opened >= 0
    byteCount = status.flatMap { $0.isRegularFile ? Int(clamping: $0.byteCount) : nil }
    if let status, status.isRegularFile {
      CommandInputs.add(status.identity, name: isStandardInput ? "standard input" : path)
    }
    if let failure { throw ReadFailure(path: path, message: failure) }
    if isStandardInput, isatty(STDIN_FILENO) == 1 {
      note("receipt-tool: reading from standard input; paste the input and press Ctrl-D")
    }
  }

  /// Indicates whether the file is not empty and is also standard output: reading it line by line would never end.
  private static func isOutput(_ status: File.Status?) -> Bool {
    guard let status, status.isRegularFile, status.byteCount > 0 else { return false }
    return FileSystem.status(ofDescriptor: STDOUT_FILENO)?.identity == status.identity
  }

  deinit { if isOwned { close(descriptor) } }

  /// The next bytes, at most `count`; empty at the end.
  func read(atMost count: Int) throws(ReadFailure) -> [UInt8] {
    while true {
      var failed = false
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        let got = unsafe Glibc.read(descriptor, buffer.baseAddress, count)
        failed = got < 0
        initialized = max(got, 0)
      }
      if !failed { return bytes }
      if errno != EINTR { throw ReadFailure(path: name, message: SystemError(number: errno).reason) }
    }
  }

  /// Indicates whether a read would not block, because bytes are available or the end is reached.
  var hasMoreNow: Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&state, 1, 0) > 0
  }

  /// Reads all bytes, or the first `limit + 1`, which is enough to detect that a file is too large.
  func readAll(limit: Int) throws(ReadFailure) -> [UInt8] {
    var all: [UInt8] = []
    if let byteCount { all.reserveCapacity(min(byteCount, limit) + 1) }
    while all.count <= limit {
      let piece = try read(atMost: min(1 << 20, limit + 1 - all.count))
      if piece.isEmpty { break }
      all += piece
    }
    return all
  }

  /// Reads a small file, such as a certificate.
  static func contents(of path: String, limit: Int = 16 << 20) throws -> [UInt8] {
    do throws(ReadFailure) {
      return try InputFile(path).readAll(limit: limit)
    } catch {
      throw ToolExit.failure(.unreadableInput, error.description)
    }
  }
}

struct ReadFailure: Error, CustomStringConvertible {
  let path: String
  let message: String
  var description: String { "cannot read \(GivenValue.described(path)): \(message)" }

  /// Reports on standard error, and with `--json` as an object, that one of several inputs cannot be read.
  func report() throws(ExitCode) {
    note("receipt-tool: \(self)")
    try Output.Error(.unreadableInput, description, source: path).write()
  }
}
