// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import GooglePlay
import ReceiptCodec
import ReceiptHTTPCurl

extension PlayAccountOptions {
  var given: KeyValuePairs<String, Bool> {
    ["--service-account": keyFile != nil, "--play-base-url": base != nil, "--play-token-url": token != nil]
  }

  func client(
    packageName: String, over transport: any HTTPTransport, servers: ServerOptions
  ) throws -> GooglePlayClient {
    let tokenURL = try token.map(servers.url)
    let address = try base.map { GooglePlayAddress(at: try servers.url($0), tokenURL: tokenURL) }
    return GooglePlayClient(
      transport: transport, account: try account(), packageName: packageName,
      address: address ?? GooglePlayAddress.google(tokenURL: tokenURL), retry: servers.retry)
  }

  private func account() throws -> ServiceAccount {
    let variable = "GOOGLE_APPLICATION_CREDENTIALS"
    guard let path = keyFile ?? environmentVariable(variable), !path.isEmpty else {
      throw ToolExit.failure(.usage, "needs --service-account FILE, or \(variable) in the environment")
    }
    do {
      return try ServiceAccount(keyFile: InputFile.contents(of: path, limit: ServiceAccount.maximumByteCount))
    } catch let error as ServiceAccountError {
      throw ToolExit.failure(.unreadableInput, "\(GivenValue.described(path)): \(error)")
    }
  }
}

extension PlayOptions {
  func validate() throws {
    try refuse(
      ["--base-url": servers.base != nil, "--sandbox-base-url": servers.sandboxBase != nil], unless: false,
      "is of the App Store: use --play-base-url")
  }

  /// Creates a client, runs calls with it, and shuts down its transport.
  func withClient(_ calls: (GooglePlayClient) async throws -> Void) async throws {
    let transport = servers.transport()
    defer { transport.shutdown() }
    let client = try account.client(packageName: packageName, over: transport, servers: servers)
    do {
      try await calls(client)
    } catch let error as GooglePlayError {
      throw ToolExit.failure(
        error.isRetryable ? ExitCode.undetermined : ExitCode.invalid, error.description,
        code: error.code?.rawValue)
    }
  }

  func show(_ response: [UInt8], of endpoint: GooglePlayEndpoint) throws {
    try Output.APIResponse.write(response, of: endpoint.rawValue, json: json)
  }

  func show(_ call: GooglePlayCall<some JSONObject>) async throws {
    try await withClient { client in try show(await client.send(call).encodedJSON(), of: call.endpoint) }
  }

  /// Sends a call and prints its result, since its response has no content worth printing.
  func perform<Response>(
    _ call: GooglePlayCall<Response>, _ member: String, _ value: String, _ result: String
  ) async throws {
    try await withClient { client in
      _ = try await client.send(call)
      let object = JSONWriter.bytes {
        $0.member(member, value)
        $0.member("result", result)
      }
      try show(object, of: call.endpoint)
    }
  }
}

enum PlayProductType: String, ExpressibleByArgument, CaseIterable {
  case product, subscription
}
