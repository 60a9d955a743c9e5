// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import Foundation
  import ReceiptCodec
  import ReceiptService
  import ReceiptVerification

  struct ForwardingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "forwarding",
      abstract: "List and drop notifications that wait to be forwarded, also while a server runs.",
      subcommands: [List.self, Drop.self])

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "List the apps whose notifications wait, also those that are no longer forwarded.")

      @OptionGroup var options: ConfigurationOptions
      @Flag(name: .customLong("json"), help: "Print one JSON object a line.") var json = false

      func run() async throws {
        let (_, database) = try await options.existingDatabase()
        let states = try await ServerExit.reporting { try await ForwardingQueue(database).states() }
        await database.close()
        for state in states {
          guard !json else {
            print(state.json.text)
            continue
          }
          let first = "\(state.first ?? 0) of \(state.received?.iso8601Seconds ?? "-")"
          let error = state.error.map { "  \($0)" } ?? ""
          print("\(state.app)  \(state.waiting) waiting  first \(first)  \(state.attempts) attempts\(error)")
        }
      }
    }

    struct Drop: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Delete the first waiting notification of an app, or all.",
        discussion: """
          What is dropped is not forwarded. This server has recorded it all the same.

          EXIT CODES:
            0 dropped; 1 there is no such waiting notification; 64 wrong command line;
            65 wrong configuration; 69 the database cannot be used.
          """)

      @OptionGroup var options: ConfigurationOptions
      @Option(help: ArgumentHelp("The app.", valueName: "NAME")) var app: String
      @Option(
        help: ArgumentHelp(
          "Only this one, by its number in the list. It must still be the first.", valueName: "NUMBER"))
      var first: Int64?
      @Flag(help: "All of the app.") var all = false
      @Flag(name: .customLong("json"), help: "Print one JSON object.") var json = false

      func validate() throws {
        guard all == (first == nil) else { throw ValidationError("Name either --first NUMBER or --all.") }
      }

      func run() async throws {
        let (_, database) = try await options.existingDatabase()
        let count = try await ServerExit.reporting {
          try await ForwardingQueue(database).drop(
            app: app, first: first, by: "command line", at: SystemClock.now())
        }
        await database.close()
        guard count > 0 else {
          throw ServerExit.failure(
            ExitCode(1),
            first == nil
              ? "no notification of \(app) waits" : "this is not the first waiting notification of \(app)")
        }
        guard json else { return print("\(count) dropped") }
        var object = JSONWriter(type: "forwarding-drop")
        object.member("count", Int64(count))
        object.endObject()
        print(object.text)
      }
    }
  }

  extension ForwardingState {
    fileprivate var json: JSONWriter {
      var object = JSONWriter(type: "forwarding")
      object.member("app", app)
      object.member("waiting", waiting)
      object.member("first", first)
      object.member("receivedDate", received)
      object.member("attempts", attempts)
      object.member("nextAttemptDate", due)
      object.member("error", error)
      object.endObject()
      return object
    }
  }
#endif
