// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptBytes

/// Questions to a person at a terminal.
enum Terminal {
  /// Indicates whether somebody can be asked: a terminal is where answers come from, and where questions go.
  static var isPresent: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Asks for a line of text; `nil` if nobody can be asked or the answer is empty.
  static func ask(_ question: String) -> String? {
    guard isPresent else { return nil }
    _ = writeAll(Array("\(question): ".utf8), to: STDERR_FILENO)
    let answer = readLine().map { String($0.drop(while: \.isWhitespace)) } ?? ""
    return answer.isEmpty ? nil : answer
  }

  /// Asks for a secret without showing it; `nil` if nobody can be asked or the answer is empty.
  static func askSecret(_ question: String) -> [UInt8]? {
    guard isPresent, let answer = unsafe getpass("\(question): ") else { return nil }
    let length = unsafe strlen(answer)
    defer { unsafe explicit_bzero(answer, length) }
    let secret = unsafe Array(UnsafeRawBufferPointer(start: answer, count: length))
    return secret.isEmpty ? nil : secret
  }

  /// Asks for a new secret twice.
  ///
  /// - Throws: Exit code 64 if the answers differ.
  static func askNewSecret(_ question: String) throws(ExitCode) -> [UInt8]? {
    guard let secret = askSecret(question) else { return nil }
    guard askSecret("\(question), again") == secret else {
      throw ToolExit.failure(.usage, "the two passphrases differ; nothing was written")
    }
    return secret
  }
}
