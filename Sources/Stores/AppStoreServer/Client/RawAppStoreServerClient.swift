// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
package import ReceiptSigning

/// The App Store that is called: Apple's for production or for the sandbox, or a compatible server.
public struct AppStoreServerAddress: Sendable, Hashable {
  /// The environment of the purchases that it knows.
  package let environment: ReceiptEnvironment.Category
  /// What all paths begin with.
  package let url: RemoteURL

  /// Creates one for a server of your own, such as an emulator.
  public init(_ environment: ReceiptEnvironment.Category, at url: RemoteURL) {
    self.environment = environment
    self.url = url
  }

  /// `https://api.storekit.apple.com`.
  public static let production = AppStoreServerAddress(
    .production, at: RemoteURL(secureHost: "api.storekit.apple.com"))
  /// `https://api.storekit-sandbox.apple.com`.
  public static let sandbox = AppStoreServerAddress(
    .sandbox, at: RemoteURL(secureHost: "api.storekit-sandbox.apple.com"))
}

/// Calls the App Store Server API and returns what it answers, unverified, signed parts as they came.
/// ``AppStoreServerClient`` verifies.
///
/// One client may be used from any number of tasks at once; copies share their token. The transport is the
/// caller's, who shuts it down.
package struct RawAppStoreServerClient: Sendable {
  /// The App Store that is called.
  package let address: AppStoreServerAddress
  /// How often and how long a call is tried.
  package let retry: RetryPolicy

  let tokens: AppStoreServerTokens
  let transport: any HTTPTransport
  package let time: RemoteTime

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - signer: Signs the tokens, and names the app.
  ///   - address: The App Store that is called; production by default.
  ///   - retry: How often and how long a call is tried.
  ///   - time: Clocks and random numbers; the system's by default.
  package init(
    transport: any HTTPTransport, signer: DeveloperSigner, address: AppStoreServerAddress = .production,
    retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.init(
      transport: transport, tokens: AppStoreServerTokens(signer: signer, time: time), address: address,
      retry: retry, time: time)
  }

  private init(
    transport: any HTTPTransport, tokens: AppStoreServerTokens, address: AppStoreServerAddress,
    retry: RetryPolicy, time: RemoteTime
  ) {
    self.transport = transport
    self.tokens = tokens
    self.address = address
    self.retry = retry
    self.time = time
  }

  /// The app, by its bundle identifier.
  package var bundleId: String { tokens.signer.bundleId }

  /// The same client for another App Store, with the same tokens.
  package func calling(_ address: AppStoreServerAddress) -> RawAppStoreServerClient {
    RawAppStoreServerClient(
      transport: transport, tokens: tokens, address: address, retry: retry, time: time)
  }

  /// Sends a call.
  ///
  /// - Throws: ``AppStoreServerError``.
  package func send<Response, Value>(
    _ call: AppStoreServerCall<Response, Value>
  ) async throws(AppStoreServerError) -> Unverified<Response> { Unverified(try await answer(call).response) }

  /// Sends a call whose answer has no content.
  ///
  /// - Throws: ``AppStoreServerError``.
  package func send(_ call: AppStoreServerCall<NoContent, NoContent>) async throws(AppStoreServerError) {
    _ = try await answer(call)
  }

  /// Sends the call for one page.
  ///
  /// - Parameters:
  ///   - call: The call, the same for each page.
  ///   - token: What the page before names as the next; `nil` for the first page.
  /// - Returns: The page.
  /// - Throws: ``AppStoreServerError``.
  package func send<Response, Element>(
    _ call: AppStoreServerPagedCall<Response, Element>, after token: String? = nil
  ) async throws(AppStoreServerError) -> Unverified<Response> { try await send(call.page(token)) }

  /// Sends a call, and tells how many requests that took.
  func answer<Response, Value>(
    _ call: AppStoreServerCall<Response, Value>
  ) async throws(AppStoreServerError) -> (response: Response, attempts: Int) {
    let url: RemoteURL
    do throws(RequestLimits.Violation) {
      url = try call.request.url(of: call.endpoint, at: address.url)
    } catch {
      throw AppStoreServerError(
        call.endpoint, attempts: 0, .invalidRequest(place: error.place, message: error.message))
    }
    let caller = RemoteCaller(transport: transport, policy: retry, time: time)
    let classifier = ResponseClassifier(now: time.now)
    var attempts = 0
    var token = ""
    do {
      let response = try await caller.send(isIdempotent: call.endpoint.isIdempotent) {
        token = try tokens.token()
        attempts += 1
        return call.request.request(
          call.endpoint.method, url, headers: [HTTPHeader("Authorization", "Bearer \(token)")])
      } classify: { response in
        if response.status == 401 { tokens.forget(token) }
        return classifier.classify(response, decode: call.decode)
      }
      return (response, attempts)
    } catch {
      throw AppStoreServerError(call.endpoint, attempts: attempts, Self.cause(of: error))
    }
  }

  private static func cause(of error: any Error) -> AppStoreServerError.Cause {
    switch error {
    case let refusal as ResponseClassifier.Refusal: refusal.cause
    case let error as SigningError: .signing(error)
    case RemoteCaller.Failure.transport(let error): .transport(error)
    case RemoteCaller.Failure.redirected(let status, let location, let followed):
      .redirected(status: status, location: location.map(ShownText.line), followed: followed)
    case RemoteCaller.Failure.deadlineExceeded: .deadlineExceeded
    // Nothing else is thrown but this and `CancellationError`.
    default: .cancelled
    }
  }
}

extension RawAppStoreServerClient: CustomStringConvertible, CustomReflectable {
  /// Address and identifiers; neither token nor key.
  package var description: String { "RawAppStoreServerClient(\(address.url), \(tokens.signer))" }

  /// Address and identifiers; neither token nor key.
  package var customMirror: Mirror {
    Mirror(self, children: ["url": address.url.description, "signer": tokens.signer.description])
  }
}
