// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser

  struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "settings",
      abstract: "List the settings of a configuration, with type, default and meaning.",
      discussion: """
        It reads no configuration. serve --check-config checks one.

        EXAMPLES:
          receipt-server settings
          receipt-server settings webhook

        EXIT CODES:
          0 listed; 1 no setting has the text in its name or its meaning; 64 wrong
          command line.
        """)

    @Argument(help: "Only settings with this text in their name or their meaning.")
    var text: String?
    @Flag(name: .customLong("json"), help: "Print one JSON object a line.") var json = false

    func run() async throws {
      let wanted = text?.lowercased() ?? ""
      let found = Setting.all.filter { setting in
        wanted.isEmpty || "\(setting.name) \(setting.meaning)".lowercased().contains(wanted)
      }
      guard !found.isEmpty else {
        throw ServerExit.failure(ExitCode(1), "no setting has \"\(wanted)\" in its name or its meaning")
      }
      print(found.map { json ? $0.json : $0.text }.joined(separator: "\n"))
    }
  }
#endif
