// SPDX-License-Identifier: Apache-2.0

/// An answer of the store, or the continuation that waits for it.
struct AnswerWait<Answer: Sendable> {
  private var result: Result<Answer, any Error>?
  private var continuation: CheckedContinuation<Answer, any Error>?

  /// Resumes the continuation with the result, now or when it is known.
  mutating func wait(_ continuation: CheckedContinuation<Answer, any Error>) {
    if let result { continuation.resume(with: result) } else { self.continuation = continuation }
  }

  /// Sets the result, unless there is one already.
  mutating func end(_ result: Result<Answer, any Error>) {
    guard self.result == nil else { return }
    self.result = result
    continuation?.resume(with: result)
    continuation = nil
  }
}
