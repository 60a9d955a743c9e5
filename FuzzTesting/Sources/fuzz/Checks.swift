// SPDX-License-Identifier: Apache-2.0

/// Ends the process, so that libFuzzer keeps the input, when something that must hold does not.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
}

/// Runs a step that must not fail, such as parsing again what was just written.
func mustSucceed<Result>(_ what: String, _ body: () throws -> Result) -> Result {
  do {
    return try body()
  } catch {
    fatalError("\(what): \(error)")
  }
}
