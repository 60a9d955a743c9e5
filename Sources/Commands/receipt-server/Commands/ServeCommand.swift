// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import Foundation
  import ReceiptCodec
  import ReceiptService

  struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "serve", abstract: "Serve until SIGTERM or SIGINT, and finish what was accepted.",
      discussion: """
        Prints one line when it is ready: its address, with --json as an object. Logs go
        to standard error.
        """)

    @OptionGroup var options: ConfigurationOptions

    @Flag(
      name: .customLong("check-config"),
      help:
        "Only check the configuration and what it names, as serving does; nothing is created. With --json, list the settings that it was asked for."
    )
    var checksConfiguration = false

    @Flag(name: .customLong("json"), help: "Print JSON, and log JSON.")
    var json = false

    func run() async throws {
      let settings = try await options.settings(preparing: !checksConfiguration)
      try await ServerExit.reporting { try settings.check() }
      if checksConfiguration {
        for warning in settings.warnings { ServerExit.note(warning) }
        guard json else { return print("the configuration can take effect") }
        var object = JSONWriter(type: "configuration")
        object.member("settings", settings.names)
        object.endObject()
        return print(object.text)
      }
      // The server keeps running if the reader of the log or of the ready line goes away, or if the session ends.
      _ = signal(SIGPIPE, SIG_IGN)
      _ = signal(SIGHUP, SIG_IGN)
      defer { LogOutput.standardError.flush(within: .seconds(2)) }
      let process = try await ServerProcess(settings, logsJSON: json)
      let key = try await options.development?.key(process.api)
      try await process.run { [options, json] listener in
        let url = listener.url
        var lines = ["receipt-server: ready at \(url)"]
        if let development = options.development, let key {
          lines += [
            "",
            "For development: everything is in \(development.folder)/, and a sample receipt with it. Try:",
            "",
            "  curl --data-binary @\(development.sampleFile) \\",
            "    -H \"Authorization: Bearer \(key)\" \(url)/v1/verify", "",
            "The console is at \(url)/console; log in with the key above.",
            "The description of the API is at \(url)/openapi.json.",
          ]
        }
        var text = lines.joined(separator: "\n")
        if json {
          var object = JSONWriter(type: "listening")
          object.member("key", key)
          object.member("url", url)
          object.endObject()
          text = object.text
        }
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
      }
    }
  }
#endif
