// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptVerification

/// The reason why a source gave no answer, as a checker's answer.
struct CheckFailure: Error {
  let answer: CheckerAnswer

  init(_ answer: CheckerAnswer) { self.answer = answer }

  init(_ error: any Error) {
    switch error {
    case let failure as CheckFailure: self = failure
    case RemoteCaller.Failure.transport(let failure):
      answer = .failure(failure.description, isRetryable: failure.isRetryable)
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

extension CheckerAnswer {
  static func refused(_ message: String, environment: ReceiptEnvironment.Category? = nil) -> CheckerAnswer {
    .response(CheckerResponse(.refused(message: message), environment: environment))
  }

  static func failure(_ message: String, isRetryable: Bool) -> CheckerAnswer {
    isRetryable ? .retryableFailure(message: message) : .terminalFailure(message: message)
  }
}

extension CheckFailure {
  static func terminal(_ message: String) -> CheckFailure { CheckFailure(.terminalFailure(message: message)) }

  /// The outcome of a response without a success status (RFC 9110 section 15).
  static func outcome<Value: Sendable>(
    of response: RemoteResponse, now: Timestamp
  ) -> RemoteCaller.Outcome<Value> {
    let failure = CheckerAnswer.failure(
      "HTTP status \(response.status).", isRetryable: response.isTemporaryFailure)
    return .refused(response, CheckFailure(failure), now: now)
  }

  static func retry<Value: Sendable>(_ message: String) -> RemoteCaller.Outcome<Value> {
    .retry(CheckFailure(.retryableFailure(message: message)), notBefore: nil, isProcessed: false)
  }
}

enum RevocationFinding {
  /// Revoked if all of the receipt's purchases are; otherwise confirmed, and the response names the revoked ones.
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
