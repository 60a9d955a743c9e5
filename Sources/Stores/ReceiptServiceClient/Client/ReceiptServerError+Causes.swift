// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptHTTP

extension ReceiptServerError {
  /// `true` if the same call may succeed later. The client has sent it again already, if it may be sent twice.
  public var isRetryable: Bool {
    code == .unreachable || status.map(ReceiptServerClient.retryableStatuses.contains) ?? false
  }

  /// The error for a response that is no success.
  init(_ response: RemoteResponse, _ operation: String, retryAfter: Timestamp?, trace: String) {
    let problem = ServerProblem(of: response)
    let detail =
      problem.map { "\($0.status) \($0.code): \($0.detail)" + ($0.place.map { " (\($0))" } ?? "") }
      ?? "The HTTP status is \(response.status), without problem details. Is something else at this address, such as a proxy?"
    self.init(
      problem == nil ? .unexpected : .refused, detail, operation: operation, status: response.status,
      problem: problem, retryAfter: retryAfter, traceID: trace)
  }

  /// The error for a call without a response.
  init(_ cause: any Error, _ operation: String, trace: String) {
    let code: Code
    var status: Int?
    switch cause as? RemoteCaller.Failure {
    case .cancelled: code = .cancelled
    case .redirected(let redirect, _, _): (code, status) = (.redirected, redirect)
    case .transport(let error) where error.code == .tooLarge: code = .unexpected
    case .transport(let error) where !error.isRetryable: code = .invalid
    case .transport, .deadlineExceeded, nil: code = .unreachable
    }
    self.init(code, "\(cause)", operation: operation, status: status, traceID: trace)
  }

  /// The error for a list that would never end.
  static func repeatedPage(_ operation: String) -> ReceiptServerError {
    ReceiptServerError(.unexpected, "The server names a page that it already answered.", operation: operation)
  }
}

extension ServerProblem {
  /// Reads problem details, or an error of OpenIAP, which has a form of its own.
  fileprivate init?(of response: RemoteResponse) {
    guard response.body.count <= 1 << 16, let value = try? JSONValue(parsing: response.body, limits: .answer)
    else { return nil }
    if let first = value["errors"]?.array?.first {
      guard let code = first["code"]?.string, let message = first["message"]?.string else { return nil }
      self.init(
        title: "", status: Int64(response.status), code: code, detail: message, place: first["path"]?.string)
      return
    }
    guard let problem = try? ServerProblem.read(response), problem.status == Int64(response.status) else {
      return nil
    }
    self = problem
  }
}
