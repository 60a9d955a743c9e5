// SPDX-License-Identifier: Apache-2.0

#if Server
  public import ArgumentParser
  public import Entitlements
  import Foundation
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptService
  import ReceiptVerification

  struct RefundReviewsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "refund-reviews",
      abstract: "List the stores' refund reviews and answer them, also while a server runs.",
      subcommands: [List.self, Answer.self])

    struct AppOptions: ParsableArguments {
      @OptionGroup var configuration: ConfigurationOptions
      @Option(help: ArgumentHelp("The app.", valueName: "NAME")) var app: String

      func entitlements() async throws -> (AppConfiguration, ServiceEntitlements, any ServiceDatabase) {
        let (settings, database) = try await configuration.existingDatabase()
        guard let app = settings.service.apps.first(where: { $0.name == app }) else {
          await database.close()
          throw ValidationError("The configuration has no such app.")
        }
        return (app, ServiceEntitlements(database: database, apps: settings.service.apps), database)
      }
    }

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(abstract: "List the reviews, latest question first.")

      @OptionGroup var options: AppOptions
      @Flag(name: .customLong("all"), help: "Also those that need no answer any more.") var all = false
      @Flag(name: .customLong("json"), help: "Print one JSON object a line.") var json = false

      func run() async throws {
        let (app, entitlements, database) = try await options.entitlements()
        let now = SystemClock.now()
        for stored in try await entitlements.refundReviews(app: app.name) {
          guard let review = stored.refundReview else { continue }
          let state = review.state(at: now)
          guard all || [.open, .due, .answering].contains(state) else { continue }
          if json {
            var object = JSONWriter()
            stored.append(to: &object, at: now)
            print(object.text)
          } else {
            let columns = [
              stored.identifier, review.id.store.rawValue, state.rawValue,
              "until \(review.deadline.iso8601Seconds)", review.productId ?? "-", review.reason ?? "-",
              "suggested: \(review.suggestedPreference.rawValue)",
            ]
            print(columns.joined(separator: "  "))
          }
        }
        await database.close()
      }
    }

    struct Answer: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Answer a review at its store, once.",
        discussion: """
          What is left out comes from the evidence that the server has. Exit code 1
          means that the store or the server did not take the answer.
          """)

      @OptionGroup var options: AppOptions
      @Argument(help: "The transaction of the App Store, or the order of Google Play.") var id: String
      @Flag(help: "Send nothing: the customer did not consent, for example.") var skip = false
      @Option(
        help: ArgumentHelp(
          "decline, grant, grant-prorated or undecided. Default: as suggested.", valueName: "WISH"))
      var preference: RefundReview.Preference?
      @Flag(help: "The customer agreed that this is told to Apple, which takes no answer without.")
      var customerConsented = false
      @Option(
        help: ArgumentHelp("DELIVERED, or UNDELIVERED_ and Apple's word for the reason.", valueName: "STATUS")
      )
      var deliveryStatus: String?
      @Option(
        help: ArgumentHelp("Whether the customer could try before buying: true or false.", valueName: "BOOL"))
      var sampleContentProvided: Bool?
      @Option(
        help: ArgumentHelp("The part that was used, in thousandths of a percent.", valueName: "0...100000"))
      var consumptionPercentage: Int64?
      @Flag(help: "Print what would be sent, and send nothing.") var dryRun = false
      @Flag(name: .customLong("json"), help: "Print one JSON object.") var json = false

      func run() async throws {
        let (app, entitlements, database) = try await options.entitlements()
        let found = try await entitlements.refundReviews(app: app.name, identifier: id)
        guard let stored = found.first, let review = stored.refundReview else {
          await database.close()
          throw ServerExit.failure(ExitCode(1), "there is no refund review of \(ShownText.plain(id))")
        }
        var answer = RefundAnswer()
        answer.skips = skip
        answer.preference = preference
        answer.customerConsented = customerConsented ? true : nil
        answer.deliveryStatus = deliveryStatus
        answer.sampleContentProvided = sampleContentProvided
        answer.consumptionPercentage = consumptionPercentage
        do {
          if dryRun {
            print(try entitlements.body(of: answer, to: review, by: "command line") ?? "nothing")
          } else {
            try await entitlements.answer(
              answer, to: stored.name, app: app.name, by: "command line", app.refundAnswers)
            try await show(stored.name, app, entitlements)
          }
        } catch let failure as RefundAnswerFailure {
          await database.close()
          let place = failure.place.map { " at \($0)" } ?? ""
          throw ServerExit.failure(ExitCode(1), "\(failure.code.rawValue)\(place): \(failure.message)")
        }
        await database.close()
      }

      private func show(
        _ name: String, _ app: AppConfiguration, _ entitlements: ServiceEntitlements
      ) async throws {
        let now = SystemClock.now()
        for stored in try await entitlements.refundReviews(app: app.name, identifier: id)
        where stored.name == name {
          if json {
            var object = JSONWriter()
            stored.append(to: &object, at: now)
            print(object.text)
          } else {
            print(stored.refundReview?.state(at: now).rawValue ?? "unknown")
          }
        }
      }
    }
  }

  extension RefundReview.Preference: ExpressibleByArgument {}
#endif
