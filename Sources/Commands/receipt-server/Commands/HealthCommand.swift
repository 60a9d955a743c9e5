// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import NIOSSL
  import ReceiptHTTPAsyncHTTPClient
  import ReceiptService

  struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "health",
      abstract: "Ask the server of this machine whether requests should be sent to it.",
      discussion: """
        It asks /readyz at the address of the configuration, for checks of containers and
        scripts. The certificate is not verified: it is for the name that others use.

        EXIT CODES:
          0 requests should be sent; 1 they should not, or there is no answer; 64 wrong
          command line; 65 wrong configuration.
        """)

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
      var listener = try await options.settings().listener
      guard listener.port != 0 else {
        throw ServerExit.failure(
          ServerExit.wrongConfiguration,
          "listen.port: It is 0, so the port is not known in advance. Set a fixed port.")
      }
      if let loopback = ["0.0.0.0": "127.0.0.1", "::": "::1"][listener.host] { listener.host = loopback }
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.certificateVerification = .none
      var settings = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
      settings.httpVersion = .http1Only
      // The server of the port may be another program.
      settings.refuseImpossibleHeads()
      let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
      let answer: String
      do {
        let response = try await client.execute(
          HTTPClientRequest(url: "\(listener.url)/readyz"), timeout: .seconds(3))
        answer = response.status == .ok ? "ready" : "HTTP \(response.status.code)"
      } catch {
        answer = "no answer: \(error)"
      }
      try await client.shutdown()
      guard answer == "ready" else {
        throw ServerExit.failure(ExitCode(1), "\(listener.url): \(answer)")
      }
      print(answer)
    }
  }
#endif
