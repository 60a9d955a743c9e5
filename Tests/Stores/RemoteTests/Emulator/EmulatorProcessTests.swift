// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The emulator ends when it is told to. Every test with an emulator of its own relies on it.
@Suite(.enabled(if: EmulatorProcess.isPresent, EmulatorProcess.absence))
struct EmulatorProcessTests {
  @Test("SIGTERM as soon as it is ready ends it and removes its state")
  func endsAtOnce() throws {
    for _ in 0..<5 {
      let emulator = try EmulatorProcess(["--no-token-checks"])
      #expect(FileManager.default.fileExists(atPath: emulator.file("developerKey")))
      emulator.stop()
      #expect(!FileManager.default.fileExists(atPath: emulator.file("developerKey")))
    }
  }
}
