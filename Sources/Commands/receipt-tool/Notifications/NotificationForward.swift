// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import ReceiptCodec
import ReceiptHTTP

/// The work for each notification: a program to run, or a server to send it to.
enum NotificationForward: Sendable {
  case program(String, timeout: Duration)
  case server(RemoteURL, any HTTPTransport, timeout: Duration)

  /// The reason why the work was not done.
  struct Failure: Error {
    let message: String
  }

  /// Passes a document to the program or server, and returns when the work is done.
  func send(_ document: [UInt8], uuid: String) async throws(Failure) {
    switch self {
    case .program(let command, let timeout):
      let failure = await withCheckedContinuation { continuation in
        // Waiting for a program blocks its thread; a serial queue has a thread of its own.
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

  /// Runs a shell command with the document as its standard input.
  ///
  /// Its output goes to standard error.
  private static func run(_ command: String, input: [UInt8], timeout: Duration) -> Failure? {
    // Use a file: writing to a pipe would block if the program does not read.
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
    // The program gets a process group, so that its children can be ended with it, and the default signal actions.
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
    // In the status of wait(2), the low seven bits are the signal, and the next byte is the exit code.
    let signal = status & 0x7F
    if signal != 0 { return Failure(message: "Signal \(signal) ended the program.") }
    let code = status >> 8 & 0xFF
    return code == 0 ? nil : Failure(message: "The program ended with exit code \(code).")
  }
}
