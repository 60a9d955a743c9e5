// SPDX-License-Identifier: Apache-2.0

#if Server
  public import ArgumentParser
  import Foundation
  import ReceiptCodec
  public import ReceiptService
  import ReceiptVerification

  struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "keys", abstract: "Create, list and revoke keys of the API, also while a server runs.",
      subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Create a key and print it; it cannot be shown again.")

      @OptionGroup var options: ConfigurationOptions
      @Option(help: "What the key is for, in lists.") var name: String
      @Option(help: ArgumentHelp("The app that it is confined to. Default: all.", valueName: "NAME"))
      var app: String?
      @Option(
        name: .customLong("scope"),
        help: ArgumentHelp(
          "verify, read, grant, review, admin or client. May be repeated. A key with the scope client may be published with an app.",
          valueName: "SCOPE"))
      var scopes: [Scope]
      @Flag(name: .customLong("json"), help: "Print one JSON object.") var json = false

      func run() async throws {
        let settings = try await options.settings(preparing: true)
        let database = try await ServerProcess.database(settings)
        let keys = KeyRing(
          database, apps: Set(settings.service.apps.map(\.name)), clock: { SystemClock.now() })
        let key: APIKeyText
        do {
          key = try await keys.create(name: name, app: app, scopes: Set(scopes), by: "command line")
        } catch let error as KeyRing.InvalidKey {
          await database.close()
          throw ValidationError("--\(error.member == "scopes" ? "scope" : error.member): \(error.message)")
        }
        await database.close()
        guard json else { return print(key) }
        print(CreatedKey(id: key.id, key: "\(key)").json().text)
      }
    }

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(abstract: "List the keys, without their secrets.")

      @OptionGroup var options: ConfigurationOptions
      @Flag(name: .customLong("json"), help: "Print one JSON object a line.") var json = false

      func run() async throws {
        let (_, database) = try await options.existingDatabase()
        for key in try await KeyRing(database, clock: { SystemClock.now() }).keys() {
          guard json else {
            let scopes = key.principal.scopes.map(\.rawValue).sorted()
            let state = key.revoked == nil ? "" : "  revoked"
            print(
              "\(key.principal.keyID)  \(key.principal.app ?? "*")  \(scopes.joined(separator: ","))  \(key.principal.name)\(state)"
            )
            continue
          }
          print(key.listed.json(type: "key").text)
        }
        await database.close()
      }
    }

    struct Revoke: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Revoke a key: it is refused within ten seconds.")

      @OptionGroup var options: ConfigurationOptions
      @Argument(help: "The identifier of the key.") var id: String
      @Flag(name: .customLong("json"), help: "Print one JSON object.") var json = false

      func run() async throws {
        let (_, database) = try await options.existingDatabase()
        let isThere = try await KeyRing(database, clock: { SystemClock.now() }).revoke(
          id: id, by: "command line")
        await database.close()
        guard isThere else {
          throw ServerExit.failure(ExitCode(1), "there is no key \(id) that is not revoked")
        }
        guard json else { return print("revoked") }
        var object = JSONWriter(type: "key")
        object.member("id", id)
        object.endObject()
        print(object.text)
      }
    }
  }

  extension Scope: ExpressibleByArgument {}
#endif
