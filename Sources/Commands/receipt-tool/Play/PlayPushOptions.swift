// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GooglePlay
import ReceiptHTTPCurl

/// The sender whose Google Play notifications are received.
struct PlayPushOptions: ParsableArguments {
  @Option(
    name: .customLong("play-package"),
    help: ArgumentHelp("An app, by its package name. May be repeated.", valueName: "NAME"))
  var packageNames: [String] = []

  @Option(
    name: .customLong("push-audience"),
    help: ArgumentHelp(
      "The audience of the push subscription: by default of Pub/Sub the URL of the endpoint.",
      valueName: "TEXT"))
  var audience: String?

  @Option(
    name: .customLong("push-email"),
    help: ArgumentHelp("The service account of the push subscription.", valueName: "ADDRESS"))
  var email: String?

  @Option(
    name: .customLong("push-keys-url"),
    help: ArgumentHelp(
      "Take the keys of the tokens from here, not from Google: an emulator.", valueName: "URL"))
  var keys: String?

  @OptionGroup var account: PlayAccountOptions

  var isUsed: Bool { !packageNames.isEmpty }
  /// Indicates whether an option names a server.
  var namesServer: Bool { isUsed && (keys != nil || account.base != nil || account.token != nil) }

  func validate() throws {
    try refuse(
      ["--push-audience": audience != nil, "--push-email": email != nil, "--push-keys-url": keys != nil],
      unless: isUsed, "needs --play-package")
    try refuse(account.given, unless: isUsed, "needs --play-package")
    guard !isUsed || audience != nil && email != nil else {
      throw ValidationError("--play-package needs --push-audience and --push-email.")
    }
  }

  /// The receiver of notifications; `nil` if they are not received.
  func receiver(
    over transport: any HTTPTransport, allowsPlainHTTP: Bool
  ) throws -> DeveloperNotificationReceiver? {
    guard let first = packageNames.first, let audience, let email else { return nil }
    let verifier = PushTokenVerifier(
      audience: audience, email: email, transport: transport,
      keys: try keys.map { try ServerOptions.url($0, allowsPlainHTTP: allowsPlainHTTP) }
        ?? PushTokenVerifier.googleKeys)
    return DeveloperNotificationReceiver(
      verifier: verifier,
      client: try account.client(
        packageName: first, over: transport, retry: RetryPolicy(), allowsPlainHTTP: allowsPlainHTTP),
      packageNames: Set(packageNames))
  }
}
