// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import Foundation
  import ReceiptCodec
  import ReceiptService
  import ReceiptVerification

  struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "webhooks",
      abstract: "List and replay deliveries that were given up, also while a server runs.",
      subcommands: [Dead.self, Replay.self])

    struct EndpointOptions: ParsableArguments {
      @OptionGroup var configuration: ConfigurationOptions
      @Option(help: ArgumentHelp("The app.", valueName: "NAME")) var app: String
      @Option(help: ArgumentHelp("The endpoint.", valueName: "NAME")) var endpoint: String

      func queue() async throws -> (WebhookQueue, any ServiceDatabase) {
        let (settings, database) = try await configuration.existingDatabase()
        guard let app = settings.service.apps.first(where: { $0.name == app }),
          app.webhooks.contains(where: { $0.name == endpoint })
        else {
          await database.close()
          throw ValidationError("The configuration has no such app with such an endpoint.")
        }
        return (WebhookQueue(database), database)
      }
    }

    struct Dead: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "List the deliveries that were given up, in the order of the changes.")

      @OptionGroup var options: EndpointOptions
      @Flag(name: .customLong("json"), help: "Print one JSON object a line.") var json = false

      func run() async throws {
        let (queue, database) = try await options.queue()
        var sequence: Int64 = 0
        while true {
          let letters = try await queue.deadLetters(
            app: options.app, endpoint: options.endpoint, after: sequence)
          guard let last = letters.last else { break }
          for letter in letters {
            if json {
              print(letter.json().text)
            } else {
              print(
                "\(letter.change.id)  \(letter.change.type)  \(letter.attempts) attempts  \(letter.error)")
            }
          }
          sequence = last.change.sequence
        }
        await database.close()
      }
    }

    struct Replay: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Have one delivery, or all of an endpoint, tried again.")

      @OptionGroup var options: EndpointOptions
      @Option(help: ArgumentHelp("Only this one, by its webhook-id.", valueName: "ID")) var id: String?
      @Flag(name: .customLong("json"), help: "Print one JSON object.") var json = false

      func run() async throws {
        let (queue, database) = try await options.queue()
        let count = try await queue.replay(
          app: options.app, endpoint: options.endpoint, id: id, by: "command line", at: SystemClock.now())
        await database.close()
        guard count > 0 || id == nil else {
          throw ServerExit.failure(ExitCode(1), "there is no such dead letter")
        }
        guard json else { return print("\(count) will be tried again") }
        print(WebhookReplay(count: Int64(count)).json().text)
      }
    }
  }
#endif
