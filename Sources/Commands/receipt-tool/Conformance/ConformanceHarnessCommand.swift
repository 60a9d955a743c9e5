// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptBytes
import ReceiptCodec

extension ConformanceHarnessCommand {
  /// The longest case, in bytes: a receipt of the greatest length that the verifier reads, in base64, and its policy.
  private static let longestCase = 1 << 26

  func run() async throws {
    try writeAll(ConformanceDeclaration.line)
    let input = try InputFile("-")
    var splitter = LineSplitter(maximumLineLength: Self.longestCase)
    var conformer = Conformer()
    while true {
      let piece = try input.read(atMost: 1 << 18)
      let lines = piece.isEmpty ? splitter.finish() : splitter.split(piece)
      for line in lines where !line.isEmpty {
        let answer: [UInt8]
        do { answer = try await conformer.answer(to: line) } catch {
          throw ToolExit.failure(.unreadableInput, "a case cannot be answered: \(error)")
        }
        try writeAll(answer)
      }
      if piece.isEmpty { return }
    }
  }
}
