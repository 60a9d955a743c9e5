// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import Synchronization

/// The status of one certificate, and how long it may be cached.
struct KnownStatus: Sendable {
  let status: CertificateStatus
  /// The time, in seconds since 1970, until which the status need not be checked again; `nil` if it must not be cached.
  let freshUntil: Double?
}

/// The reason why the status of a certificate could not be obtained.
struct RevocationFailure: Error, Sendable, Hashable {
  let message: String
  /// `true` if asking again may help.
  let isRetryable: Bool

  static let shutDown = RevocationFailure(message: "The checker was shut down.", isRetryable: false)
  static let cancelled = RevocationFailure(message: "The task was cancelled.", isRetryable: true)
}

typealias RevocationOutcome = Result<KnownStatus, RevocationFailure>

/// A request whose outcome any number of tasks can await.
final class RevocationFlight: Sendable {
  private struct State {
    var outcome: RevocationOutcome?
    var waiting: [FirstResult<RevocationOutcome>] = []
  }

  private let state = Mutex(State())

  /// The outcome; or `cancelled` as soon as the waiting task is cancelled, while the request goes on for the others.
  var outcome: RevocationOutcome {
    get async {
      let first = FirstResult<RevocationOutcome>()
      let completed = state.withLock { state in
        if state.outcome == nil { state.waiting.append(first) }
        return state.outcome
      }
      if let completed { return completed }
      return await withTaskCancellationHandler {
        await first.value
      } onCancel: {
        first.deliver(.failure(.cancelled))
      }
    }
  }

  func complete(_ outcome: RevocationOutcome) {
    let waiting = state.withLock { state in
      state.outcome = outcome
      defer { state.waiting = [] }
      return state.waiting
    }
    for first in waiting { first.deliver(outcome) }
  }
}
