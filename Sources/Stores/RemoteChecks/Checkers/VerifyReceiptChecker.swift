// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
// Callers need this module to create the transport and its URL.
@_exported public import ReceiptHTTP
public import ReceiptVerification

/// Asks `verifyReceipt`, the store's older service, or a compatible endpoint.
///
/// The service knows app receipts and transaction receipts. If both environments are allowed, production is asked
/// first; the sandbox is asked if production answers that the receipt is the sandbox's (status 21007).
public struct VerifyReceiptChecker: RemoteChecker {
  /// `verify-receipt`.
  public let name = "verify-receipt"
  /// App receipts and transaction receipts.
  public let kinds: Set<ReceiptKind>? = [.appReceipt, .transactionReceipt]

  private let endpoints: Endpoints
  private let environments: Set<ReceiptEnvironment.Category>
  private let sharedSecret: Secret?
  private let caller: RemoteCaller
  private let limits: ReceiptLimits

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - endpoints: The URLs of the environments.
  ///   - environments: The environments that may be asked: those of the policy. Others than production and sandbox are
  ///     ignored.
  ///   - sharedSecret: The app's shared secret, required for receipts with subscriptions.
  ///   - retry: The retry policy.
  ///   - time: The clocks.
  public init(
    transport: any HTTPTransport, endpoints: Endpoints, environments: Set<ReceiptEnvironment.Category>,
    sharedSecret: Secret? = nil, retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.endpoints = endpoints
    self.environments = environments
    self.sharedSecret = sharedSecret
    self.caller = RemoteCaller(transport: transport, policy: retry, time: time)
    // Responses grow with the purchase history.
    self.limits = ReceiptLimits(maximumByteCount: Self.maximumResponseByteCount)
  }

  private static let maximumResponseByteCount = 32 << 20

  /// Asks about an app receipt or a transaction receipt.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    guard receipt.kind == .appReceipt || receipt.kind == .transactionReceipt else {
      return .terminalFailure(
        message: "verifyReceipt knows app receipts and transaction receipts, not a \(receipt.kind.rawValue).")
    }
    let first: ReceiptEnvironment.Category = environments.contains(.production) ? .production : .sandbox
    guard environments.contains(first) else {
      return .terminalFailure(message: "The policy accepts neither production nor sandbox.")
    }
    var environment = first
    while true {
      let response: VerifyReceiptResponse
      do {
        response = try await ask(environment, about: receipt)
      } catch {
        return error.answer
      }
      let other: ReceiptEnvironment.Category
      switch response.status {
      case .sandboxReceipt where environment == .production: other = .sandbox
      case .productionReceipt where environment == .sandbox: other = .production
      default: return answer(response, from: environment, about: receipt)
      }
      guard environments.contains(other) else {
        return .refused("The store says that the receipt is from \(other.rawValue).")
      }
      guard environment == first else {
        return .retryableFailure(message: "Production and sandbox each say that the receipt is the other's.")
      }
      environment = other
    }
  }

  private func answer(
    _ response: VerifyReceiptResponse, from environment: ReceiptEnvironment.Category,
    about receipt: VerifiedReceipt
  ) -> CheckerAnswer {
    let message = "\(response.status)"
    switch response.status {
    case .valid, .validButExpired: break
    case .notAuthenticated, .accountNotFound: return .refused(message)
    // Temporary statuses were already retried, and do not reach this point.
    default: return .terminalFailure(message: message)
    }
    guard response.bundleId == receipt.bundleId else {
      return .refused("The store says that the receipt is of another app (\(response.bundleId ?? "none")).")
    }
    let now = caller.time.now()
    let revoked = response.purchases.filter(\.isCancelled).map {
      CheckerResponse.RevokedTransaction(
        transactionId: $0.transactionId, revocationDate: $0.cancellationDate ?? now)
    }
    return .response(RevocationFinding.response(revoked, of: receipt, environment: environment))
  }

  private func ask(
    _ environment: ReceiptEnvironment.Category, about receipt: VerifiedReceipt
  ) async throws(CheckFailure) -> VerifyReceiptResponse {
    let request = RemoteRequest(
      .post, environment == .production ? endpoints.production : endpoints.sandbox,
      headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Accept", "application/json")],
      body: body(for: receipt), maximumResponseByteCount: Self.maximumResponseByteCount)
    do {
      return try await caller.send(isIdempotent: true, { request }, classify: classify)
    } catch {
      throw CheckFailure(error)
    }
  }

  private func body(for receipt: VerifiedReceipt) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("receipt-data", Base64.encodeToString(receipt.encoded))
    json.member("password", sharedSecret?.text)
    json.endObject()
    return json.bytes
  }

  private func classify(_ response: RemoteResponse) -> RemoteCaller.Outcome<VerifyReceiptResponse> {
    if response.status / 100 != 2 { return CheckFailure.outcome(of: response, now: caller.time.now()) }
    do throws(MalformedReceipt) {
      let parsed = try VerifyReceiptResponse(parsing: response.body, limits: limits)
      return parsed.isTemporary ? CheckFailure.retry("\(parsed.status)") : .done(parsed)
    } catch {
      return CheckFailure.retry("The response could not be read: \(error.description)")
    }
  }
}

extension VerifyReceiptChecker: CustomStringConvertible, CustomReflectable {
  /// The name and the environments.
  public var description: String {
    "VerifyReceiptChecker(\(environments.map(\.rawValue).sorted().joined(separator: ", ")))"
  }
  /// The name only.
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension VerifyReceiptChecker.Endpoints {
  /// Returns the App Store's endpoints.
  ///
  /// - Throws: `RemoteURL.Failure` in theory; in practice never, because the URLs are valid constants.
  public static func appStore() throws(RemoteURL.Failure) -> VerifyReceiptChecker.Endpoints {
    VerifyReceiptChecker.Endpoints(
      production: try RemoteURL("https://buy.itunes.apple.com/verifyReceipt"),
      sandbox: try RemoteURL("https://sandbox.itunes.apple.com/verifyReceipt"))
  }
}
