// SPDX-License-Identifier: Apache-2.0

// A caller makes the transport and its URL, too: they come with this module.
@_exported public import ReceiptHTTP

/// Where the Google Play Developer API and its access tokens are: Google's, or a compatible server.
public struct GooglePlayAddress: Sendable, Hashable {
  /// What all paths begin with, before `/androidpublisher/v3`.
  package let url: RemoteURL
  /// Where access tokens are issued; `nil` for the URL that the key file names.
  package let tokenURL: RemoteURL?

  /// Creates one for a server of your own, such as an emulator.
  public init(at url: RemoteURL, tokenURL: RemoteURL? = nil) {
    self.url = url
    self.tokenURL = tokenURL
  }

  /// `https://androidpublisher.googleapis.com`.
  public static let google = GooglePlayAddress.google(tokenURL: nil)

  /// Google's API, with access tokens from another server.
  package static func google(tokenURL: RemoteURL?) -> GooglePlayAddress {
    GooglePlayAddress(at: RemoteURL(secureHost: "androidpublisher.googleapis.com"), tokenURL: tokenURL)
  }
}

/// Calls the Google Play Developer API, version 3, about the purchases of one app.
///
/// ```swift
/// let client = GooglePlayClient(
///   transport: transport, account: try ServiceAccount(keyFile: contents), packageName: "com.example.app")
/// let purchase = try await client.send(.subscription(token))
/// if purchase.subscriptionState == .active { unlock() }
/// ```
///
/// The calls are the functions of ``GooglePlayCall``. One client may be used from any number of tasks at once, which
/// share its access token. The transport is the caller's, who shuts it down.
public struct GooglePlayClient: Sendable {
  /// The app, by its package name.
  public private(set) var packageName: String
  package let time: RemoteTime

  private let address: GooglePlayAddress
  private let tokens: AccessTokens
  private let transport: any HTTPTransport
  private let retry: RetryPolicy

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - account: Signs the assertions for which access tokens are issued.
  ///   - packageName: The app, by its package name.
  ///   - address: The server that is called; Google's by default.
  ///   - retry: How often and how long a call is tried.
  ///   - time: Clocks and random numbers; the system's by default.
  public init(
    transport: any HTTPTransport, account: ServiceAccount, packageName: String,
    address: GooglePlayAddress = .google, retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.packageName = packageName
    self.address = address
    self.transport = transport
    self.retry = retry
    self.time = time
    tokens = AccessTokens(
      account: account, url: address.tokenURL, transport: transport, retry: retry, time: time)
  }

  /// The same client for another app of the account, with the same access token.
  public func calling(for packageName: String) -> GooglePlayClient {
    var client = self
    client.packageName = packageName
    return client
  }

  /// Sends a call.
  ///
  /// An access token that is refused is renewed once.
  ///
  /// - Throws: ``GooglePlayError``.
  public func send<Response>(
    _ call: GooglePlayCall<Response>
  ) async throws(GooglePlayError) -> Response {
    var attempts = 0
    do {
      return try await send(call, attempts: &attempts)
    } catch {
      throw GooglePlayError(call.endpoint, attempts: attempts, GooglePlayError.Cause(error))
    }
  }

  /// Sends a call whose answer has no content.
  ///
  /// - Throws: ``GooglePlayError``.
  public func send(_ call: GooglePlayCall<NoContent>) async throws(GooglePlayError) {
    let _: NoContent = try await send(call)
  }

  private func send<Response>(_ call: GooglePlayCall<Response>, attempts: inout Int) async throws -> Response
  {
    let url = try self.url(of: call)
    let end = time.elapsed() + min(retry.deadline, .seconds(31_536_000))
    let classifier = ResponseClassifier(now: time.now)
    var mayRenew = true
    while true {
      let token = try await tokens.token()
      var policy = retry
      policy.deadline = end - time.elapsed()
      let caller = RemoteCaller(transport: transport, policy: policy, time: time)
      do {
        return try await caller.send(isIdempotent: call.endpoint.isIdempotent) {
          attempts += 1
          return call.request.request(
            call.endpoint.method, url, headers: [HTTPHeader("Authorization", "Bearer \(token.text)")])
        } classify: { response in
          classifier.classify(response, decode: call.decode)
        }
      } catch let refusal as GooglePlayError.Refusal where refusal.code == .unauthorized {
        tokens.forget(token)
        guard mayRenew else { throw refusal }
        mayRenew = false
      }
    }
  }

  private func url<Response>(of call: GooglePlayCall<Response>) throws -> RemoteURL {
    guard Self.isPackageName(packageName) else {
      throw GooglePlayError.Cause.invalidRequest(
        place: "packageName", message: "It must be a package name such as com.example.app.")
    }
    let base = address.url.appending(pathSegments: [
      "androidpublisher", "v3", "applications", packageName,
    ])
    do throws(RequestLimits.Violation) {
      return try call.request.url(of: call.endpoint, at: base)
    } catch {
      throw GooglePlayError.Cause.invalidRequest(place: error.place, message: error.message)
    }
  }

  /// Letters, digits, underscores, and dots between them.
  static func isPackageName(_ text: String) -> Bool {
    1...256 ~= text.utf8.count
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
      }
  }
}

extension GooglePlayClient: CustomStringConvertible, CustomReflectable {
  /// Address, app and account; neither token nor key.
  public var description: String { "GooglePlayClient(\(address.url), \(packageName), \(tokens.account))" }

  /// Address, app and account; neither token nor key.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "url": address.url.description, "packageName": packageName, "account": tokens.account.description,
      ])
  }
}
