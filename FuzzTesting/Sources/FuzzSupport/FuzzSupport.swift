// SPDX-License-Identifier: Apache-2.0

/// The input that libFuzzer hands over.
public func input(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
  Array(UnsafeBufferPointer(start: start, count: count))
}

/// Ends the process, so that libFuzzer keeps the input, when something that must hold does not.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
}

/// Runs a step that must not fail, such as parsing again what was just written.
public func mustSucceed<Result>(_ what: String, _ body: () throws -> Result) -> Result {
  do {
    return try body()
  } catch {
    fatalError("\(what): \(error)")
  }
}
