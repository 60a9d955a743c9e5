// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptVerification

/// Asks another ReceiptKit service to verify the receipt.
///
/// It sends the receipt unchanged to `POST BASE/v1/verify`, and takes the verdict, the JSON object that
/// `receipt-tool verify --json` prints, as its answer.
public struct ReceiptServiceChecker: RemoteChecker {
  /// The checker's name; `receiptkit` by default.
  public let name: String
  private let url: RemoteURL
  private let token: Secret?
  private let caller: RemoteCaller

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - base: The base URL of the service.
  ///   - transport: Sends the requests.
  ///   - token: Sent as `Authorization: Bearer …`, if the service requires a token.
  ///   - name: The checker's name in verdicts and logs.
  ///   - retry: The retry policy.
  ///   - time: The clocks.
  public init(
    _ base: RemoteURL, transport: any HTTPTransport, token: Secret? = nil, name: String = "receiptkit",
    retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.name = name
    self.url = base.appending(pathSegments: ["v1", "verify"])
    self.token = token
    self.caller = RemoteCaller(transport: transport, policy: retry, time: time)
  }

  /// Asks the service.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    var headers = [
      HTTPHeader("Content-Type", "application/octet-stream"), HTTPHeader("Accept", "application/json"),
    ]
    if let token { headers.append(HTTPHeader("Authorization", "Bearer \(token.text)")) }
    let request = RemoteRequest(.post, url, headers: headers, body: receipt.encoded)
    do {
      return try await caller.send(isIdempotent: true, { request }, classify: classify)
    } catch {
      return CheckFailure(error).answer
    }
  }

  private func classify(_ response: RemoteResponse) -> RemoteCaller.Outcome<CheckerAnswer> {
    if response.status / 100 != 2 { return CheckFailure.outcome(of: response, now: caller.time.now()) }
    guard let verdict = try? JSONValue(parsing: response.body), let word = verdict["verdict"]?.string else {
      return CheckFailure.retry("The service did not answer with a verdict.")
    }
    let reason = verdict["reason"]
    let message = "\(reason?["code"]?.string ?? word): \(reason?["message"]?.string ?? "no reason given")"
    switch word {
    case "valid": return .done(.response(confirmation(verdict)))
    case "invalid" where reason?["code"]?.string == ReasonCode.revoked.rawValue:
      return .done(.response(CheckerResponse(.revoked(at: nil))))
    case "invalid": return .done(.refused(message))
    case "undetermined":
      return .done(.failure(message, isRetryable: verdict["retryable"] == .bool(true)))
    default: return .done(.terminalFailure(message: "The service answered with an unknown verdict."))
    }
  }

  private func confirmation(_ verdict: JSONValue) -> CheckerResponse {
    let isProven = verdict["environmentProven"] != .bool(false)
    let environment = verdict["environment"]?.string.flatMap { ReceiptEnvironment.Category(rawValue: $0) }
    let revoked = (verdict["transactions"]?.array ?? []).compactMap {
      transaction -> CheckerResponse.RevokedTransaction? in
      guard let id = transaction["transactionId"]?.string, let date = transaction["revocationDate"]?.string,
        let instant = try? Timestamp(iso8601: date)
      else { return nil }
      return CheckerResponse.RevokedTransaction(transactionId: id, revocationDate: instant)
    }
    return CheckerResponse(
      .confirmed, environment: isProven ? environment : nil, revokedTransactions: revoked,
      purchases: (verdict["transactions"]?.array ?? []).compactMap(Self.standing))
  }

  private static func standing(_ purchase: JSONValue) -> CheckedStanding? {
    func instant(_ name: String) -> Timestamp? {
      purchase[name]?.string.flatMap { try? Timestamp(iso8601: $0) }
    }
    guard let status = purchase["standing"]?.string.flatMap({ PurchaseStanding.Status(rawValue: $0) }),
      status != .unknown
    else { return nil }
    return CheckedStanding(
      status: status, transactionId: purchase["transactionId"]?.string,
      productId: purchase["productId"]?.string, since: instant("standingSince"),
      expiresDate: instant("standingUntil"), quantity: purchase["remainingQuantity"]?.int64)
  }
}
