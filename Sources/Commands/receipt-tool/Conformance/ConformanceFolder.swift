// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCrypto

/// A folder for the files of one case, which is removed with all of them when the case is answered.
struct ConformanceFolder {
  let path: String

  /// Creates an empty folder that only its owner can read.
  init() throws {
    let parent = environmentVariable("TMPDIR") ?? "/tmp"
    path = "\(parent)/receipt-conformance-\(Hexadecimal.encode(Random.bytes(16)))"
    try FileSystem.makeDirectory(path, permissions: 0o700)
  }

  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    if (try? FileSystem.linkStatus(path))??.isDirectory == true {
      for name in (try? FileSystem.names(in: path)) ?? [] { remove("\(path)/\(name)") }
      _ = try? FileSystem.removeDirectory(path)
    } else {
      try? FileSystem.remove(path)
    }
  }
}
