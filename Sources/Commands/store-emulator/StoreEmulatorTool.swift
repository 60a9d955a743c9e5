// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ArgumentParser
import Foundation
import ReceiptBytes
import ReceiptHTTP
import ReceiptSigning

@main
struct StoreEmulatorTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store-emulator",
    abstract:
      "Serves the App Store's and Google Play's endpoints on this machine, for tests, and fails on demand.",
    discussion: """
      When it is ready it prints one line of JSON: the ports, and the files that it
      wrote into the state directory. It ends on SIGTERM, on POST
      /_emulator/shutdown, or when its standard input is closed, so that it does not
      outlive the test that started it.

      EXAMPLES:
        store-emulator --state /tmp/emulator
        store-emulator --state /tmp/emulator --no-token-checks --sample \\
          --keep-running --port 8080 --log &
        curl -X POST http://127.0.0.1:8080/_emulator/faults \\
          -d '[{"faults": [{"kind": "cut", "afterBytes": 20}], "requests": 3}]'
        store-emulator --state /tmp/emulator --store shop --clock-rate 0 \\
          --notification-url http://localhost:8080/notifications
        curl -X POST http://127.0.0.1:PORT/_emulator/buy \\
          -d '{"account": "alice", "productId": "com.example.plan.monthly"}'
        curl -X POST http://127.0.0.1:PORT/_emulator/advance -d '{"by": "P1M"}'
        store-emulator --state /tmp/emulator --with-server --port 8080 \\
          --server-port 8081 --keep-running
        store-emulator --state /tmp/emulator --play-service-account account.json \\
          --play-push-url http://localhost:8080/play
        curl -X POST http://127.0.0.1:PORT/_emulator/play/buy \\
          -d '{"account": "alice", "productId": "com.example.plan.monthly"}'

      EXIT CODES:
        0   it was ended
        64  the command line is wrong
        66  an identity, key or certificate cannot be read
        69  it was built without the trait Server, or no port could be opened
        73  the state directory cannot be written
      """,
    version: ToolkitVersion.current)

  @OptionGroup(title: "SERVING")
  var serving: ServingOptions

  @Option(help: .init("The directory for trust roots and keys.", valueName: "dir"))
  var state: String

  @Option(
    help: .init(
      "The P-256 identity that signs, as receipt-tool identity create writes it; test for the published one.",
      valueName: "dir"))
  var authority = "test"

  @Option(
    help: .init("The RSA identity that signs app receipts; test for the published one.", valueName: "dir"))
  var receiptAuthority = "test"

  @Option(
    help: .init("The developer's key, a .p8 file; by default the published test key.", valueName: "file"))
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

  @Option(
    help: .init(
      "The folder of a store, as receipt-tool store init makes it; once for each app. Without one, purchases are kept in memory.",
      valueName: "dir"))
  var store: [String] = []

  @Option(
    help: .init("What is sold: JSON, or an Xcode .storekit file; by default samples.", valueName: "file"))
  var catalog: String?

  @Option(
    help: .init(
      "How many of the store's seconds pass in one: 1 for real time, 0 for a clock that is only advanced by request.",
      valueName: "rate"))
  var clockRate = 1.0

  @Flag(help: "Renews at the rates of the App Store's sandbox: a month in 5 minutes, a year in an hour.")
  var sandboxRates = false

  @Option(help: .init("The time that the store's clock shows at the start.", valueName: "ISO8601"))
  var clock: String?

  @Option(help: .init("The grace period of failed renewals, in days.", valueName: "days"))
  var gracePeriod: Int?

  @Option(
    help: .init(
      "Where notifications are sent; by default to the emulator itself, which takes them.", valueName: "url"))
  var notificationURL: String?

  @Option(
    help: .init(
      "Certificates in PEM that are trusted at the notification URL, besides the system's.", valueName: "file"
    ))
  var notificationCertificates: String?

  @Flag(
    help: ArgumentHelp(
      "Also serves the routes of receipt-server, as a backend that receives the notifications, and prints its address and a key.",
      discussion: """
        The backend has the store's clock, and serves the apps of the sandbox, or
        with --store those in the environment of the first store. Without --store
        its database in the state directory begins empty, as the store does.
        """))
  var withServer = false

  @Option(help: "The port of the server; 0 chooses one.")
  var serverPort: UInt16?

  @Option(help: .init("How long an answer to a notification may take.", valueName: "seconds"))
  var notificationTimeout = 10

  @Flag(
    inversion: .prefixedNo,
    help:
      "Sends a failed notification of the sandbox again, as production does. The App Store's sandbox does not."
  )
  var sandboxRetries = true

  @OptionGroup(title: "GOOGLE PLAY")
  var play: PlayOptions

  func validate() throws {
    if let fault = ProgramArguments.fault { throw ValidationError(fault) }
    guard clockRate >= 0, clockRate.isFinite else { throw ValidationError("--clock-rate is 0 or greater.") }
    guard gracePeriod.map({ 1...60 ~= $0 }) ?? true else {
      throw ValidationError("--grace-period takes 1 to 60 days.")
    }
    guard 1...600 ~= notificationTimeout else {
      throw ValidationError("--notification-timeout takes 1 to 600 seconds.")
    }
    guard withServer || serverPort == nil else { throw ValidationError("--server-port needs --with-server.") }
    if withServer, notificationURL != nil || play.sendsPushes {
      throw ValidationError(
        "--with-server receives the notifications itself: leave out --notification-url and the options of pushes."
      )
    }
    if !store.isEmpty, authority != "test" || clock != nil || gracePeriod != nil || sample || sandboxRates {
      throw ValidationError(
        "--store has its own identity, clock and grace period: leave out --authority, --clock, --grace-period, "
          + "--sandbox-rates and --sample.")
    }
  }

  func run() async throws {
    #if Server
      try await Emulation(options: self).run()
    #else
      throw ToolFailure.exit(
        ToolFailure.unavailable,
        "store-emulator was built without the trait Server and cannot serve: swift build --traits Server"
      )
    #endif
  }
}

/// The exit codes of failures (sysexits.h).
enum ToolFailure {
  static let usage: Int32 = 64
  static let noInput: Int32 = 66
  static let unavailable: Int32 = 69
  static let cannotCreate: Int32 = 73

  /// Writes the reason to standard error, and returns the error to throw.
  static func exit(_ code: Int32, _ message: String) -> ExitCode {
    write("store-emulator: \(message)\n")
    return ExitCode(code)
  }

  /// Performs work, and ends the process with an exit code if it throws. An `ExitCode` is passed on.
  static func exiting<Value>(
    _ code: Int32, _ prefix: String = "", _ body: () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch { throw exit(code, prefix, error) }
  }

  static func exiting<Value>(_ code: Int32, _ prefix: String = "", _ body: () throws -> Value) throws -> Value
  {
    do { return try body() } catch { throw exit(code, prefix, error) }
  }

  private static func exit(_ code: Int32, _ prefix: String, _ error: any Error) -> ExitCode {
    error as? ExitCode ?? exit(code, "\(prefix)\(error)")
  }

  /// Writes a text. Errors, such as a closed reader, are ignored.
  static func write(_ text: String, to file: FileHandle = .standardError) {
    try? file.write(contentsOf: Data(text.utf8))
  }
}
