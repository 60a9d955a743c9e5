// SPDX-License-Identifier: Apache-2.0

internal import GooglePlay
internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptHTTP
internal import ReceiptVerification

/// Asks Huawei AppGallery about purchase tokens; all tasks share its access token.
final class HuaweiClient: Sendable {
  private static let maximumResponseByteCount = 1 << 20

  let caller: RemoteCaller
  private let address: HuaweiAddress
  private let tokens: SharedFetch<Secret, CheckFailure>

  init(address: HuaweiAddress, clientId: String, clientSecret: Secret, caller: RemoteCaller) {
    self.address = address
    self.caller = caller
    let cancelled = CheckFailure(.retryableFailure(message: "The task was cancelled."))
    tokens = AccessTokenGrant.shared(
      from: address.token, caller, cancelled: cancelled, failure: { Self.tokenFailure($0) }
    ) { _ in
      AccessTokenGrant(form: [
        ("grant_type", "client_credentials"), ("client_id", clientId), ("client_secret", clientSecret.text),
      ])
    }
  }

  private static func tokenFailure(_ error: any Error) -> CheckFailure {
    guard let refusal = error as? AccessTokenRefusal else { return CheckFailure(error) }
    let reasons = ["HTTP status \(refusal.httpStatus)", refusal.error, refusal.message].compactMap(\.self)
    let message = "Huawei issued no access token: \(reasons.joined(separator: ": "))"
    return CheckFailure(.failure(message, isRetryable: refusal.isRetryable))
  }

  /// Asks the order service about a product, or the subscription service about a subscription.
  func ask(
    token: String, productId: String? = nil, subscriptionId: String? = nil
  ) async throws(CheckFailure) -> HuaweiAnswer {
    var question = HuaweiTokenQuestion()
    question.purchaseToken = token
    question.productId = productId
    question.subscriptionId = subscriptionId
    let url =
      subscriptionId == nil
      ? address.orders.appending(pathSegments: ["applications", "purchases", "tokens", "verify"])
      : address.subscriptions.appending(pathSegments: ["sub", "applications", "v2", "purchases", "get"])
    var mayRenew = true
    while true {
      let token = try await tokens.held().value
      let authorization = Base64.encodeToString(Array("APPAT:\(token.text)".utf8))
      let request = RemoteRequest(
        .post, url,
        headers: [
          HTTPHeader("Authorization", "Basic \(authorization)"), HTTPHeader("Accept", "application/json"),
          HTTPHeader("Content-Type", "application/json; charset=UTF-8"), UserAgent.header,
        ], body: question.encodedJSON(), maximumResponseByteCount: Self.maximumResponseByteCount)
      do {
        // The answer is `nil` only if the access token was refused.
        let answer: HuaweiAnswer? = try await caller.send(isIdempotent: true, { request }) { response in
          classify(response)
        }
        if let answer { return answer }
      } catch {
        throw CheckFailure(error)
      }
      tokens.forget { $0 == token }
      guard mayRenew else {
        throw CheckFailure.terminal("Huawei does not accept the access token (HTTP status 401).")
      }
      mayRenew = false
    }
  }

  private func classify(_ response: RemoteResponse) -> RemoteCaller.Outcome<HuaweiAnswer?> {
    if response.status == 401 { return .done(nil) }
    if response.status != 200 { return CheckFailure.outcome(of: response, now: caller.time.now()) }
    do throws(MalformedReceipt) {
      let answer = try HuaweiAnswer(json: response.body, part: "response", limits: .standard)
      guard answer.responseCode != .critical else { return CheckFailure.retry(Self.message(answer)) }
      return .done(answer)
    } catch {
      return CheckFailure.retry("The response could not be read: \(error.description)")
    }
  }

  /// Returns one line that describes an answer without a purchase.
  static func message(_ answer: HuaweiAnswer) -> String {
    guard let code = answer.responseCode else { return "Huawei's answer has no code." }
    let meaning = code.meaning ?? answer.responseMessage.map(ShownText.line) ?? "not documented"
    return "Huawei answers with the code \(ShownText.line(code.rawValue)): \(meaning)."
  }
}

extension HuaweiAddress {
  /// Creates the addresses of a region's servers.
  public init(_ site: Site) {
    let (code, domain) = site.names
    self.init(
      orders: RemoteURL(secureHost: "orders-\(code).iap.cloud.huawei.\(domain)"),
      subscriptions: RemoteURL(secureHost: "subscr-\(code).iap.cloud.huawei.\(domain)"),
      token: RemoteURL(secureHost: "oauth-login.cloud.huawei.com").appending(pathSegments: Self.tokenPath))
  }

  /// Creates the address of one server of your own that offers all services.
  public init(base: RemoteURL) {
    self.init(orders: base, subscriptions: base, token: base.appending(pathSegments: Self.tokenPath))
  }

  private static let tokenPath = ["oauth2", "v3", "token"]
}

extension HuaweiAddress.Site {
  fileprivate var names: (code: String, domain: String) {
    switch self {
    case .china: ("drcn", "com.cn")
    case .germany: ("dre", "eu")
    case .singapore: ("dra", "asia")
    case .russia: ("drru", "ru")
    }
  }
}
