// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The exit codes of failures (sysexits.h).
enum ToolFailure {
  static let usage: Int32 = 64
  static let noInput: Int32 = 66
  static let unavailable: Int32 = 69
  static let cannotCreate: Int32 = 73

  /// Writes the reason to standard error, and returns the error to throw.
  static func exit(_ code: Int32, _ message: String) -> ExitCode {
    write("store-emulator: \(message)\n", to: 2)
    return ExitCode(code)
  }

  /// Performs work, an error of which ends the process with a code. An `ExitCode` is passed on.
  static func exiting<Value>(
    _ code: Int32, _ prefix: String = "", _ body: () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch { throw exit(code, prefix, error) }
  }

  static func exiting<Value>(_ code: Int32, _ prefix: String = "", _ body: () throws -> Value) throws -> Value
  {
    do { return try body() } catch { throw exit(code, prefix, error) }
  }

  private static func exit(_ code: Int32, _ prefix: String, _ error: any Error) -> ExitCode {
    error as? ExitCode ?? exit(code, "\(prefix)\(error)")
  }

  /// Writes a text to a file descriptor.
  ///
  /// Errors, such as a closed reader, are ignored.
  static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { unsafe systemWrite(descriptor, $0) }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
      unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
    #else
      unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }
}

/// Removal of files and directories.
enum SystemFiles {
  static func remove(_ path: String) -> Bool { unsafe unlink(path) == 0 }
  static func removeDirectory(_ path: String) -> Bool { unsafe rmdir(path) == 0 }
}
