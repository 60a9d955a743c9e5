// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The addresses, ports and certificates of the process.
struct ServingOptions: ParsableArguments {
  @Option(help: .init("The address to listen at; 0.0.0.0 or :: for all.", valueName: "address"))
  var bind = "127.0.0.1"

  @Option(
    help: .init(
      "The host name or address by which clients reach it: in the URLs of its certificates, and in its TLS "
        + "certificate. By default the bound address.", valueName: "name"))
  var host: String?

  @Option(help: "The plain port of the sandbox; 0 chooses one, here and below.")
  var port: UInt16 = 0

  @Option(help: "The plain port of production.")
  var productionPort: UInt16 = 0

  @Option(help: "The TLS port of the sandbox.")
  var tlsPort: UInt16 = 0

  @Option(name: .customLong("production-tls-port"), help: "The TLS port of production.")
  var productionTLSPort: UInt16 = 0

  @Option(name: .customLong("untrusted-tls-port"), help: "The port with a certificate of another authority.")
  var untrustedTLSPort: UInt16 = 0

  @Option(name: .customLong("wrong-host-tls-port"), help: "The port with a certificate for another host.")
  var wrongHostTLSPort: UInt16 = 0

  @Option(name: .customLong("expired-tls-port"), help: "The port with an expired certificate.")
  var expiredTLSPort: UInt16 = 0

  @Option(
    help: .init(
      "The certificates of the TLS ports in PEM, the server's first; by default of an authority that is created at "
        + "start.", valueName: "file"))
  var tlsCertificate: String?

  @Option(help: .init("The private key of that certificate in PEM.", valueName: "file"))
  var tlsKey: String?

  @Option(
    help: .init(
      "How long a connection may be idle or take for a request before it is closed.", valueName: "seconds"))
  var idleTimeout: UInt16 = 60

  @Flag(help: "Writes a line for each request to standard error.")
  var log = false

  func validate() throws {
    guard (tlsCertificate == nil) == (tlsKey == nil) else {
      throw ValidationError("--tls-certificate and --tls-key belong together.")
    }
    guard idleTimeout > 0 else { throw ValidationError("--idle-timeout takes 1 to 65535 seconds.") }
  }

  /// The host name or address by which clients reach the process.
  var reachableHost: String { host ?? localHost }

  /// The host name or address by which the process reaches itself.
  private var localHost: String { ["0.0.0.0", "::"].contains(bind) ? "127.0.0.1" : bind }

  /// The URL of a plain port for clients, without a path.
  func url(port: Int) -> String { Self.url(reachableHost, port) }

  /// The URL of a plain port for the process itself, without a path.
  func localURL(port: Int) -> String { Self.url(localHost, port) }

  private static func url(_ host: String, _ port: Int) -> String {
    "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}

/// The options of Google Play.
struct PlayOptions: ParsableArguments {
  @Option(
    help: .init(
      "The app's package name at Google Play; by default its bundle identifier. Of several stores it is the first one's.",
      valueName: "name"))
  var playPackage: String?

  @Option(
    help: .init(
      "The key file of a service account whose assertions are accepted. A file that does not exist is written, with a "
        + "new account.", valueName: "file"))
  var playServiceAccount: String?

  @Option(
    name: .customLong("play-push-url"),
    help: .init("Where Real-time Developer Notifications are pushed; by default nowhere.", valueName: "url"))
  var playPushURL: String?

  @Option(help: .init("The audience of push tokens; by default the push URL.", valueName: "text"))
  var playPushAudience: String?

  @Option(help: .init("The service account that push tokens name.", valueName: "email"))
  var playPushEmail: String?

  /// Indicates whether an option about pushes is given.
  var sendsPushes: Bool { playPushURL != nil || playPushAudience != nil || playPushEmail != nil }
}
