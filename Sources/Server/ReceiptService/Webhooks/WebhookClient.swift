// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AsyncHTTPClient
  internal import Dispatch
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOPosix
  internal import NIOSSL
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptHTTP
  internal import ReceiptHTTPAsyncHTTPClient
  internal import Synchronization

  /// Posts webhooks and forwarded notifications, without giving access to private networks.
  ///
  /// It resolves the host for each request, checks every address, and connects to a checked address. A name server that
  /// changes its answer in between therefore has no effect. Redirects are not followed.
  final class WebhookClient: Sendable {
    /// The deadline of an attempt, from name resolution to the head of the response.
    let timeout: Duration
    private let resolve: @Sendable (String) -> [IPAddress]
    private let isAllowed: @Sendable (IPAddress) -> Bool
    private let additionalTrustRoots: [NIOSSLCertificate]
    /// The connections of each host to the address that was used last.
    private let pinned = Mutex<[Target: PinnedClient]>([:])
    private let resolving = DispatchQueue(label: "receipt-kit.webhooks.resolving", attributes: .concurrent)

    /// The maximum number of bytes of a response that are read and ignored, so that the connection can be reused.
    private static let maximumAnswerByteCount = 1 << 16
    static let drainTimeout = Duration.seconds(2)
    /// The maximum number of a host's addresses to try, one after another.
    private static let maximumAddressCount = 4

    private struct Target: Hashable {
      let host: String
      /// The checked address; `nil` if the HTTP client resolves the host itself.
      let address: IPAddress?
    }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - timeout: The deadline of an attempt, up to the head of the response.
    ///   - additionalTrustRoots: Certificates to trust in addition to those of the system.
    ///   - resolve: Returns the addresses of a host; may block.
    ///   - isAllowed: Returns `true` if an address is allowed for an endpoint without private networks.
    init(
      timeout: Duration = .seconds(15), additionalTrustRoots: [NIOSSLCertificate] = [],
      resolve: @escaping @Sendable (String) -> [IPAddress] = { IPAddress.resolve($0) },
      isAllowed: @escaping @Sendable (IPAddress) -> Bool = { $0.isGlobalUnicast }
    ) {
      self.timeout = timeout
      self.additionalTrustRoots = additionalTrustRoots
      self.resolve = resolve
      self.isAllowed = isAllowed
    }

    /// Makes one attempt to post a change, with its trace as ``TraceHeaders`` stores it.
    func post(
      _ change: EntitlementChange, trace: String? = nil, to endpoint: WebhookEndpoint, at now: Timestamp
    ) async -> WebhookQueue.Outcome {
      await post(to: endpoint.target, at: now) {
        guard !endpoint.secrets.isEmpty || endpoint.authorization != nil else {
          throw Refusal(message: "There is no secret to sign with.")
        }
        let authorization = endpoint.authorization.map { [("authorization", $0)] } ?? []
        let trace = TraceHeaders.headers(stored: trace).map { ($0.name, $0.value) }
        // What is posted again after a failure has the same identifiers.
        return try endpoint.contents(of: change, at: now).map { body, signature in
          (body, [("content-type", "application/json")] + signature + authorization + trace)
        }
      }
    }

    /// Makes one attempt to post a notification of a store, as it was received.
    func post(
      _ delivery: StoreDelivery, to target: PostTarget, at now: Timestamp
    ) async -> WebhookQueue.Outcome {
      await post(to: target, at: now) {
        let fields = [("content-type", delivery.contentType), ("authorization", delivery.authorization)]
        return [(delivery.body, fields.compactMap { name, value in value.map { (name, $0) } })]
      }
    }

    private typealias Content = (body: [UInt8], headers: [(name: String, value: String)])

    private func post(
      to target: PostTarget, at now: Timestamp, _ contents: () throws -> [Content]
    ) async -> WebhookQueue.Outcome {
      do {
        let url = try RemoteURL(target.url, allowsPlainHTTP: target.allowsPrivateNetworks)
        guard url.isSecure || target.allowsPrivateNetworks else {
          return .failed("The URL is not https://.")
        }
        for (body, headers) in try contents() {
          var request = HTTPClientRequest(url: url.description)
          request.method = .POST
          request.headers.add(name: UserAgent.header.name, value: UserAgent.header.value)
          for (name, value) in headers { request.headers.add(name: name, value: value) }
          request.body = .bytes(body, length: .known(Int64(body.count)))
          let deadline = NIODeadline.now() + .milliseconds(Int64(timeout / .milliseconds(1)))
          let outcome = try await send(request, to: try await targets(url, target), by: deadline, at: now)
          guard case .delivered = outcome else { return outcome }
        }
        return .delivered
      } catch {
        let message: String
        switch error {
        case let refusal as Refusal: message = refusal.message
        case let failure as RemoteURL.Failure: message = failure.description
        default:
          if Task.isCancelled { return .interrupted }
          message = ShownText.line("\(error)")
        }
        return .failed(target.removingSecrets(from: message))
      }
    }

    private struct Refusal: Error { let message: String }

    private func targets(_ url: RemoteURL, _ target: PostTarget) async throws(Refusal) -> [Target] {
      guard !target.allowsPrivateNetworks else { return [Target(host: url.host, address: nil)] }
      guard let addresses = await addresses(of: url.host) else {
        throw Refusal(message: "The name server did not answer in time.")
      }
      guard !addresses.isEmpty else { throw Refusal(message: "The host \(url.host) is unknown.") }
      if let address = addresses.first(where: { !isAllowed($0) }) {
        throw Refusal(
          message:
            "\(url.host) leads to \(address), which is not in the Internet; allow private networks by name.")
      }
      return addresses.prefix(Self.maximumAddressCount).map { Target(host: url.host, address: $0) }
    }

    /// Resolves a host; returns `nil` if the name server does not answer in time.
    private func addresses(of host: String) async -> [IPAddress]? {
      await withCheckedContinuation { continuation in
        let waiting = Mutex<CheckedContinuation<[IPAddress]?, Never>?>(continuation)
        let answer = { @Sendable (addresses: [IPAddress]?) in
          waiting.withLock { $0.take() }?.resume(returning: addresses)
        }
        resolving.async { answer(self.resolve(host)) }
        resolving.asyncAfter(deadline: .now() + .milliseconds(Int(timeout / .milliseconds(1)))) {
          answer(nil)
        }
      }
    }

    private func send(
      _ request: HTTPClientRequest, to targets: [Target], by deadline: NIODeadline, at now: Timestamp
    ) async throws -> WebhookQueue.Outcome {
      for (index, target) in targets.enumerated() {
        let client = client(for: target)
        do {
          let response = try await client.http.execute(request, deadline: deadline)
          let outcome = Self.outcome(of: response, at: now)
          await Self.drain(response)
          return outcome
        } catch let error
          where index + 1 < targets.count
          && (error is NIOConnectionError || error as? HTTPClientError == .connectTimeout)
        {
          continue
        }
      }
      throw Refusal(message: "The host has no address.")
    }

    private static func outcome(of response: HTTPClientResponse, at now: Timestamp) -> WebhookQueue.Outcome {
      switch response.status.code {
      case 200..<300: .delivered
      // In Standard Webhooks, 410 means that the endpoint wants no further webhooks.
      case 410: .dead("HTTP 410")
      default:
        .failed(
          "HTTP \(response.status.code)",
          retryAfter: response.headers.first(name: "retry-after").flatMap { RetryAfter.instant($0, now: now) }
        )
      }
    }

    /// Reads the response's body within limits, beyond which the connection is closed.
    private static func drain(_ response: HTTPClientResponse) async {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = try? await response.body.collect(upTo: maximumAnswerByteCount) }
        group.addTask { try? await Task.sleep(for: drainTimeout) }
        await group.next()
        group.cancelAll()
      }
    }

    private func client(for target: Target) -> PinnedClient {
      pinned.withLock { pinned in
        if let client = pinned[target] { return client }
        // If a host has moved, the client for its old address is dropped.
        pinned = pinned.filter { $0.key.host != target.host }
        var overrides: [String: String] = [:]
        if let address = target.address { overrides[target.host] = address.description }
        let client = PinnedClient(overrides, additionalTrustRoots)
        pinned[target] = client
        return client
      }
    }
  }

  /// An HTTP client that is shut down when it is no longer used.
  private final class PinnedClient: Sendable {
    let http: HTTPClient

    init(_ overrides: [String: String], _ additionalTrustRoots: [NIOSSLCertificate]) {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.minimumTLSVersion = .tlsv12
      tls.additionalTrustRoots = [.certificates(additionalTrustRoots)]
      var settings = HTTPClient.Configuration(
        tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5)),
        decompression: .disabled)
      settings.httpVersion = .http1Only
      settings.dnsOverride = overrides
      // The webhook queue decides on retries.
      settings.connectionPool.retryConnectionEstablishment = false
      settings.refuseImpossibleHeads()
      http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    deinit { http.shutdown { _ in } }
  }

  extension PostTarget {
    /// Removes the user and the query of the URL from a text, wherever they occur, because errors are logged and shown
    /// with dead letters and waiting notifications.
    func removingSecrets(from text: String) -> String {
      var text = text
      for secret in secretsOfURL {
        text = text.replacing(secret, with: "…")
        // A truncated text may end with the beginning of a secret part.
        for count in stride(from: secret.count - 1, through: 4, by: -1) {
          for end in [String(secret.prefix(count)), secret.prefix(count) + "…"] where text.hasSuffix(end) {
            text = text.dropLast(end.count) + "…"
          }
        }
      }
      return text
    }

    private var secretsOfURL: [String] {
      let rest = url.split(separator: "://", maxSplits: 1).last ?? ""
      let query = rest.split(separator: "?", maxSplits: 1).dropFirst().first
      let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      let user = authority.lastIndex(of: "@").map { authority[..<$0] }
      return [query, user].compactMap(\.self).filter { !$0.isEmpty }.map(String.init)
    }
  }

  extension WebhookEndpoint {
    var target: PostTarget { PostTarget(url: url, allowsPrivateNetworks: allowsPrivateNetworks) }

    /// The bodies of the webhooks about a change, each with the header fields that sign it; none if the endpoint's form
    /// has nothing to tell of the change.
    fileprivate func contents(
      of change: EntitlementChange, at now: Timestamp
    ) throws(CryptoError) -> [(body: [UInt8], signature: [(name: String, value: String)])] {
      switch format {
      case .standard:
        let signer = StandardWebhookSigner(secrets: secrets)
        return [(change.body, try signer.headers(id: change.id, at: now, body: change.body))]
      case .revenueCat:
        return try RevenueCatEvent.events(of: change).map { event throws(CryptoError) in
          let body = event.json.bytes
          guard let secret = secrets.first else { return (body, []) }
          // `t=SECONDS,v1=HEX`, the HMAC-SHA-256 of the time, a dot and the body.
          let time = String(now.milliseconds / 1000)
          let code = try HMAC.code(for: Array("\(time).".utf8) + body, key: secret, using: .sha256)
          return (body, [("X-RevenueCat-Webhook-Signature", "t=\(time),v1=\(Hexadecimal.encode(code))")])
        }
      }
    }
  }
#endif
