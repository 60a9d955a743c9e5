// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptVerification

/// Why a source gave no answer, in a checker's terms.
struct CheckFailure: Error {
  let answer: CheckerAnswer

  init(_ answer: CheckerAnswer) { self.answer = answer }

  /// What came out of a call.
  init(_ error: any Error) {
    switch error {
    case let failure as CheckFailure: self = failure
    case RemoteCaller.Failure.transport(let failure):
      answer =
        failure.isRetryable
        ? .retryableFailure(message: failure.description) : .terminalFailure(message: failure.description)
    case RemoteCaller.Failure.deadlineExceeded:
      answer = .retryableFailure(message: "No answer before the deadline.")
    case RemoteCaller.Failure.cancelled: answer = .retryableFailure(message: "The task was cancelled.")
    case RemoteCaller.Failure.redirected(let status, _, let followed):
      answer = .terminalFailure(
        message: "The server redirects elsewhere (HTTP status \(status))"
          + "\(RemoteCaller.Failure.afterRedirects(followed)).")
    default: answer = .retryableFailure(message: "The request failed (\(type(of: error))).")
    }
  }
}

extension CheckFailure {
  /// What a response says that is no success (RFC 9110 section 15).
  static func outcome<Value: Sendable>(
    of response: RemoteResponse, now: Timestamp
  ) -> RemoteCaller.Outcome<Value> {
    let message = "HTTP status \(response.status)."
    guard response.isTemporaryFailure else {
      return .failed(CheckFailure(.terminalFailure(message: message)))
    }
    return retry(message, notBefore: response.retryAfter(now: now))
  }

  /// No answer this time, and nothing was done.
  static func retry<Value: Sendable>(
    _ message: String, notBefore: Timestamp? = nil
  ) -> RemoteCaller.Outcome<Value> {
    .retry(CheckFailure(.retryableFailure(message: message)), notBefore: notBefore, isProcessed: false)
  }
}

/// What revoked purchases mean for a receipt that may have others.
enum RevocationFinding {
  /// Revoked, where none of the receipt's purchases stands; else confirmed, and those revoked are named.
  static func response(
    _ revoked: [CheckerResponse.RevokedTransaction], of receipt: VerifiedReceipt,
    environment: ReceiptEnvironment.Category?
  ) -> CheckerResponse {
    let purchases = receipt.transactions.compactMap(\.transactionId)
    let found = revoked.filter { purchases.contains($0.transactionId) }
    let standing = Set(purchases).subtracting(found.map(\.transactionId))
    if !found.isEmpty, standing.isEmpty {
      return CheckerResponse(
        .revoked(at: found.map(\.revocationDate).max()), environment: environment, revokedTransactions: found)
    }
    return CheckerResponse(.confirmed, environment: environment, revokedTransactions: found)
  }
}
