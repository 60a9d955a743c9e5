// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Entitlements
import EntitlementsSQLite
import Glibc
import ReceiptCodec
import ReceiptHTTP
import ReceiptHTTPCurl
import ReceiptVerification
import Synchronization

/// `receipt-tool notifications serve`: receives notifications, and acknowledges each one when its work is done.
struct NotificationsServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Receive App Store Server Notifications, version 2, and those of Google Play, over HTTP.",
    discussion: """
      Each notification is verified, handed to --forward, and recorded in the file
      of --state together with its effect on the entitlements; only then is it
      answered with 200. What was recorded is answered with 200 and not forwarded
      again. So nothing that was acknowledged is lost, the work is done at least
      once, and the entitlements count each notification once, even if the process
      is killed at any instant; to end it, kill it.

      The App Store sends to https:// only: put a web server that terminates TLS
      before it.

      --forward takes a shell command, which gets a JSON object on its standard
      input and must end with exit code 0, or a URL, to which the object is posted
      and which must answer with 200 to 299. The object has the members
      notification, transaction, renewalInfo and appTransaction, decoded, and
      signedPayload. The header Idempotency-Key is the notificationUUID.

      With --play-package the notifications of Google Play are taken at the path
      /play, and those of the App Store at any other: real-time developer
      notifications, which Cloud Pub/Sub pushes. The token of the push is verified,
      Google Play is asked about the purchase, and --forward gets a JSON object with
      the members developerNotification, messageId, which is also the
      Idempotency-Key, and purchase. Without --bundle-id only they are taken.

      Answers: 200 done, or done before; 400 not genuine, of another app or
      environment, or signed longer ago than --max-age; 503 could not be checked,
      the work failed, or the same is being dealt with: the App Store delivers it
      again, after 1, 12, 24, 48 and 72 hours; 401 the token of a push is not
      accepted.

      Prints one JSON object a line: first the address, then the result of each
      request: done, repeated, refused, undetermined, failed or busy.

      EXAMPLES:
        receipt-tool notifications serve --port 8080 \\
          --state notifications.sqlite --bundle-id com.example.app \\
          --app-apple-id 1234567890 --environment production --max-age 691200 \\
          --forward ./unlock
        receipt-tool notifications serve --port 8080 --state test.sqlite \\
          --bundle-id com.example.app --trust my-store/root.cer \\
          --forward http://127.0.0.1:9000/notifications
        receipt-tool notifications serve --port 8080 \\
          --state notifications.sqlite --bundle-id com.example.app \\
          --play-package com.example.app --service-account key.json \\
          --push-audience https://example.com/play \\
          --push-email push@example.iam.gserviceaccount.com
        receipt-tool notifications entitlements --state notifications.sqlite

      EXIT CODES:
        64 wrong command line; 66 a file cannot be read, or --state names another
        file; 73 the port is taken; 74 the file of --state or the output cannot be
        written. It ends only so, or by a signal.
      """)

  @Option(help: ArgumentHelp("The port; 0 for one that is free.", valueName: "N")) var port: UInt16

  @Option(help: ArgumentHelp("The address to listen at.", valueName: "ADDRESS")) var host = "127.0.0.1"

  @OptionGroup var state: NotificationStateOptions

  @Option(help: ArgumentHelp("What is to be done for each notification.", valueName: "COMMAND|URL"))
  var forward: String?

  @Option(
    name: .customLong("forward-timeout"),
    help: ArgumentHelp("How long that may take. Default: 10.", valueName: "SECONDS"))
  var forwardTimeout: Double?

  @OptionGroup(title: "Trust") var trust: TrustOptions
  @OptionGroup(title: "Policy") var policy: PolicyOptions

  @OptionGroup(title: "Google Play") var play: PlayPushOptions

  @Flag(
    name: .customLong("allow-plain-http"),
    help:
      "Let --forward and the URLs of Google Play be http:// of another host. Others can then read what is sent."
  )
  var allowsPlainHTTP = false

  @Flag(name: .customLong("json"), help: "Accepted for uniformity: the output is always JSON.")
  var json = false

  private var forwardsToServer: Bool {
    forward.map { $0.hasPrefix("http://") || $0.hasPrefix("https://") } ?? false
  }

  func validate() throws {
    // Apple signs notifications for all apps with the same key.
    guard !policy.bundleIds.isEmpty || play.isUsed else {
      throw ValidationError("Name the app with --bundle-id, or --play-package.")
    }
    try refuse(["--forward-timeout": forwardTimeout != nil], unless: forward != nil, "needs --forward")
    try refuse(
      ["--allow-plain-http": allowsPlainHTTP], unless: forwardsToServer || play.namesServer,
      "needs --forward URL, or a URL of Google Play")
    guard forwardTimeout ?? 10 > 0, forwardTimeout ?? 10 <= 3600 else {
      throw ValidationError("--forward-timeout takes seconds, more than 0 and at most 3600.")
    }
  }

  func run() async throws {
    let transport = CurlTransport()
    defer { transport.shutdown() }
    let work = try work(over: transport)
    let delivery = NotificationDelivery(
      appStore: try appStoreReceiver(),
      googlePlay: try play.receiver(over: transport, allowsPlainHTTP: allowsPlainHTTP),
      store: try state.open(), forward: work)
    try Descriptors.require(HTTPListener.maximumConnectionCount)
    let listener = try HTTPListener(host: host, port: port)
    var ready = JSONWriter(.notificationListener)
    ready.member("host", host)
    ready.member("port", Int64(listener.port))
    try writeLine(ready)
    let output = Mutex(())
    await listener.serve(bodyLimit: 1 << 20) { request in
      let report: NotificationDelivery.Report
      switch request {
      case .success(let request): report = await delivery.deliver(request)
      case .failure(let refusal):
        report = NotificationDelivery.Report(
          outcome: .refused, status: refusal.status, message: refusal.message)
      }
      output.withLock { _ in
        do throws(ExitCode) {
          try writeLine(report.json(at: SystemClock.now()))
        } catch {
          Glibc.exit(error.rawValue)
        }
      }
      if report.isFatal {
        let code = ToolExit.failure(ToolExit.inputOutput, "\(state.path): \(report.message ?? "")")
        try? OutputError.writeLast(code)
        Glibc.exit(code.rawValue)
      }
      return report.status
    }
  }

  private func appStoreReceiver() throws -> NotificationReceiver? {
    guard !policy.bundleIds.isEmpty else { return nil }
    let resolved = try trust.resolve()
    return NotificationReceiver(
      verifier: ReceiptVerifier(
        trust: resolved.anchors, policy: try policy.policy(resolved), intermediates: resolved.intermediates))
  }

  private func work(over transport: CurlTransport) throws -> NotificationForward? {
    let timeout = Duration.milliseconds(Int64((forwardTimeout ?? 10) * 1000))
    guard let forward else { return nil }
    guard forwardsToServer else { return .program(forward, timeout: timeout) }
    do throws(RemoteURL.Failure) {
      return .server(try RemoteURL(forward, allowsPlainHTTP: allowsPlainHTTP), transport, timeout: timeout)
    } catch {
      throw ToolExit.failure(ToolExit.usage, error.description)
    }
  }
}
