// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ArgumentParser
import ReceiptSigning

@main
struct AppStoreEmulatorTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app-store-emulator",
    abstract: "Serves the App Store's endpoints on this machine, for tests, and fails on demand.",
    discussion: """
      When it is ready it prints one line of JSON: the ports, and the files that it wrote into the state
      directory. It ends on SIGTERM, on POST /_emulator/shutdown, or when its standard input is closed, so that
      it does not outlive the test that started it.

      EXAMPLES:
        app-store-emulator --state /tmp/emulator
        app-store-emulator --state /tmp/emulator --no-token-checks --sample --keep-running --port 8080 --log &
        curl -X POST http://127.0.0.1:8080/_emulator/faults \\
          -d '[{"faults": [{"kind": "cut", "afterBytes": 20}], "requests": 3}]'

      EXIT CODES:
        0   it was ended
        64  the command line is wrong
        66  an identity, key or certificate cannot be read
        69  it was built without the SwiftNIO trait, or no port could be opened
        73  the state directory cannot be written
      """)

  @OptionGroup(title: "SERVING")
  var serving: ServingOptions

  @Option(help: ArgumentHelp("The directory for trust roots and keys.", valueName: "dir"))
  var state: String

  @Option(
    help: ArgumentHelp(
      "The P-256 identity that signs, as receipt-tool identity create writes it; test for the published one.",
      valueName: "dir"))
  var authority = "test"

  @Option(
    help: ArgumentHelp(
      "The RSA identity that signs app receipts; test for the published one.", valueName: "dir"))
  var receiptAuthority = "test"

  @Option(
    help: ArgumentHelp(
      "The developer's key, a .p8 file; by default the published test key.", valueName: "file"))
  var developerKey: String?

  @Option(help: "The identifier of the developer's key.")
  var keyId = "TESTKEY123"

  @Option(help: "The identifier of the developer's issuer.")
  var issuerId = "57246542-96fe-1a63-e053-0824d011072a"

  @Option(help: "The app's bundle identifier.")
  var bundleId = "com.example.app"

  @Option(help: "The app's identifier in the App Store.")
  var appAppleId: Int64 = 1_234_567_890

  @Option(help: "The password that verifyReceipt requires.")
  var sharedSecret: String?

  @Flag(help: "Answers without a bearer token.")
  var noTokenChecks = false

  @Flag(help: "Does not end with standard input, which ends at once for background jobs of scripts.")
  var keepRunning = false

  @Flag(help: "Removes the files that it wrote, at the end.")
  var removeState = false

  @Flag(help: "Starts with a customer, a subscription and an app transaction.")
  var sample = false

  func run() async throws {
    #if SwiftNIO
      try await Emulation(options: self).run()
    #else
      throw ToolFailure.exit(
        ToolFailure.unavailable,
        "app-store-emulator was built without the SwiftNIO trait and cannot serve. Build it with default traits."
      )
    #endif
  }
}
