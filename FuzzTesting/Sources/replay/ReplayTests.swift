// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing

/// Replays all seeds and regressions through every fuzz target. `scripts/fuzz --regressions` runs this under the address
/// sanitizer, in a process of its own, whose memory it limits. FUZZ_INPUTS names a folder with a folder of files for each
/// target; while an input is replayed, the file `current` in it has its path.
@Suite(
  "Fuzz targets", .serialized,
  .enabled(if: folder != nil, "FUZZ_INPUTS names no inputs; scripts/fuzz --regressions makes them"))
struct ReplayTests {
  @Test("Every seed and every regression passes, and so does no input at all", arguments: FuzzTarget.allCases)
  func replay(_ target: FuzzTarget) async throws {
    let folder = try #require(folder)
    let seeds = try files(in: folder.appending(path: target.rawValue))
    try #require(!seeds.isEmpty)
    let regressions = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Regressions/\(target.rawValue)").standardizedFileURL
    let inputs =
      seeds + (try FileManager.default.fileExists(atPath: regressions.path) ? files(in: regressions) : [])
    try #require(await passesInTime(target, []))
    let current = folder.appending(path: "current")
    for input in inputs {
      try Data("\(target.rawValue): \(input.path)\n".utf8).write(to: current)
      let bytes = [UInt8](try Data(contentsOf: input))
      try #require(await passesInTime(target, bytes), "\(input.path) takes longer than ten seconds")
    }
    try FileManager.default.removeItem(at: current)
    print("fuzz: \(target.rawValue): \(inputs.count) inputs replayed")
  }

  private func files(in folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
  }

  /// Returns `true` if the target ends with this input, within the time that `scripts/fuzz` gives libFuzzer, too. A
  /// target that does not end is left behind on its thread.
  private func passesInTime(_ target: FuzzTarget, _ bytes: [UInt8]) async -> Bool {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
          target.run(bytes)
          done.signal()
        }
        continuation.resume(returning: done.wait(timeout: .now() + .seconds(10)) == .success)
      }
    }
  }
}

private let folder = ProcessInfo.processInfo.environment["FUZZ_INPUTS"].map { URL(filePath: $0) }
