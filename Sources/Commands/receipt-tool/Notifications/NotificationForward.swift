// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import ReceiptCodec
import ReceiptHTTP

/// The work that is done for each notification: a program, or a server that is sent it.
enum NotificationForward: Sendable {
  case program(String, timeout: Duration)
  case server(RemoteURL, any HTTPTransport, timeout: Duration)

  /// Why the work was not done.
  struct Failure: Error {
    let message: String
  }

  /// Hands a document over, and returns when the work was done.
  func send(_ document: [UInt8], uuid: String) async throws(Failure) {
    switch self {
    case .program(let command, let timeout):
      let failure = await withCheckedContinuation { continuation in
        // Waiting for a program blocks a thread, and a serial queue gets one of its own.
        DispatchQueue(label: "receipt-tool.forward").async {
          continuation.resume(returning: Self.run(command, input: document, timeout: timeout))
        }
      }
      if let failure { throw failure }
    case .server(let url, let transport, let timeout):
      let request = RemoteRequest(
        .post, url,
        headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Idempotency-Key", uuid)],
        body: document, timeout: timeout, maximumResponseByteCount: 1 << 20)
      let status: Int
      do throws(HTTPTransportError) {
        status = try await transport.send(request).status
      } catch {
        throw Failure(message: "The server was not reached: \(error)")
      }
      guard status / 100 == 2 else {
        throw Failure(message: "The server answered with HTTP status \(status).")
      }
    }
  }

  /// Runs a shell command with the document as its standard input; what it prints goes to standard error.
  private static func run(_ command: String, input: [UInt8], timeout: Duration) -> Failure? {
    // A file, as a pipe would block for a program that does not read.
    guard let file = unsafe tmpfile() else {
      return Failure(message: "No temporary file: \(systemMessage(errno))")
    }
    defer { unsafe fclose(file) }
    let descriptor = unsafe fileno(file)
    guard writeAll(input, to: descriptor), lseek(descriptor, 0, SEEK_SET) == 0 else {
      return Failure(message: "The temporary file cannot be written: \(systemMessage(errno))")
    }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // A group of its own, so that what it started ends with it; and signals as any program expects them.
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    unsafe sigaddset(&defaults, SIGPIPE)
    unsafe sigaddset(&defaults, SIGXFSZ)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    var process: pid_t = 0
    let words: [String] = ["sh", "-c", command]
    let arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    let result = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environ)
    guard result == 0 else { return Failure(message: "The program did not start: \(systemMessage(result))") }
    return wait(for: process, timeout: timeout)
  }

  private static func wait(for process: pid_t, timeout: Duration) -> Failure? {
    let deadline = ContinuousClock.now + timeout
    var status: Int32 = 0
    var pause: UInt32 = 500
    while true {
      let ended = unsafe waitpid(process, &status, WNOHANG)
      if ended == process { break }
      if ended < 0, errno != EINTR {
        return Failure(message: "The program was lost: \(systemMessage(errno))")
      }
      guard ContinuousClock.now < deadline else {
        kill(-process, SIGKILL)
        unsafe waitpid(process, &status, 0)
        return Failure(message: "The program did not end in \(timeout).")
      }
      usleep(pause)
      pause = min(pause * 2, 20_000)
    }
    // wait(2): the low seven bits are the signal, the next byte is the exit code.
    let signal = status & 0x7F
    if signal != 0 { return Failure(message: "Signal \(signal) ended the program.") }
    let code = status >> 8 & 0xFF
    return code == 0 ? nil : Failure(message: "The program ended with exit code \(code).")
  }
}
