// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import AuditTrail
  import Foundation
  import ReceiptCodec
  import ReceiptService

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Import the receipts, tokens and transactions that you have, with their customers.",
      discussion: """
        Each line of the input is a receipt in any form, or a JSON object:

          {"receipt": "MIIT…", "customer": "alice"}
          {"transactionId": "2000000000000001", "customer": "bob"}
          {"orderId": "MK5TTTVWJH"}
          {"purchaseToken": "abc…", "subscription": true, "customer": "carol"}

        The last may also have store, productId, packageName and subscriptionId, as
        POST /v1/lookup takes them. Receipts are verified under the app's default
        policy, recorded if the app records, and granted to the customer. The store is
        asked about the rest.

        The database keeps the progress of each input, by its SHA-256: a killed import
        goes on where it was, and the same input is not imported twice. Lines that were
        under way are imported again, which changes nothing. Standard input is copied
        to a temporary file first.

        A line that cannot be imported does not stop the others. It is printed as a
        JSON object with its number, a code and a message.

        EXIT CODES:
          0 all lines are imported; 1 some are not; 64 wrong command line; 65 wrong
          configuration; 66 the input cannot be read; 69 the database or the audit trail
          cannot be used: run it again, and it goes on; 70 internal fault.
        """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("The app.", valueName: "NAME")) var app: String
    @Option(help: ArgumentHelp("The lines; - is standard input.", valueName: "FILE")) var input = "-"
    @Option(help: ArgumentHelp("The most purchases that are imported at once, 1 to 64.", valueName: "NUMBER"))
    var concurrency = 16
    @Flag(help: "Begin with the first line again, for example after a fault was corrected.")
    var restart = false
    @Flag(
      name: .customLong("no-webhooks"),
      help: "Queue no webhooks about what the import changes. GET /v1/changes lists it all the same.")
    var omitsWebhooks = false
    @Flag(name: .customLong("json"), help: "Print the summary as one JSON object, too.") var json = false

    func validate() throws {
      guard 1...ReceiptImport.linesAtOnce ~= concurrency else {
        throw ValidationError("--concurrency takes 1 to \(ReceiptImport.linesAtOnce).")
      }
    }

    func run() async throws {
      let settings = try await options.settings(preparing: true)
      guard settings.service.apps.contains(where: { $0.name == app }) else {
        let names = settings.service.apps.map(\.name).joined(separator: ", ")
        throw ValidationError("--app: The configuration has no such app; it has: \(names).")
      }
      let lines: ImportInput
      do {
        lines = try ImportInput(
          input, maximumLineByteCount: settings.service.limits.maximumLineByteCount)
      } catch {
        throw ServerExit.failure(
          ExitCode(66), "--input: \(input) cannot be read: \(error.localizedDescription)")
      }
      // The reader of the output may go away; the failures are in the summary all the same.
      _ = signal(SIGPIPE, SIG_IGN)
      let database = try await ServerProcess.database(settings)
      let state = try await ServerExit.reporting {
        var service = settings.service
        if service.apps.contains(where: { $0.recordsVerdicts }) {
          service.auditLog = try settings.trail?.open(options: .init())
        }
        if omitsWebhooks {
          for index in service.apps.indices { service.apps[index].webhooks = [] }
        }
        let log = service.auditLog
        let state: ReceiptImport.State
        do {
          guard
            let importer = try ReceiptImport(
              try ReceiptAPI(service, database: database), app: app, concurrency: concurrency)
          else { throw ServiceConfigurationError("app.\(app)", "There is no such app.") }
          state = try await run(importer, lines)
        } catch {
          // What was recorded is published, and the error of the import is the one to report.
          try? log?.close()
          throw error
        }
        try log?.close()
        return state
      }
      await database.close()
      if state.failed > 0 { throw ExitCode(1) }
    }

    private func run(_ importer: ReceiptImport, _ input: ImportInput) async throws -> ReceiptImport.State {
      let known = restart ? nil : try await importer.state(of: input.digest)
      var state = known ?? ReceiptImport.State()
      let progress = ImportProgress(from: state, of: input.byteCount)
      try input.skip(to: state.position)
      while !state.finished {
        let (lines, byteCount) = try input.lines(atMost: ReceiptImport.linesAtOnce)
        if lines.isEmpty {
          state.finished = true
        } else {
          let (imported, failures) = try await importer.run(lines, first: state.line + 1)
          if !failures.isEmpty { progress.clear() }
          for (line, failure) in failures { write(failure.json(line: line)) }
          state.line += Int64(lines.count)
          state.position += byteCount
          state.imported += Int64(imported)
          state.failed += Int64(failures.count)
        }
        try await importer.save(state, of: input.digest)
        progress.show(state)
      }
      progress.clear()
      report(state, after: known)
      return state
    }

    private func report(_ state: ReceiptImport.State, after known: ReceiptImport.State?) {
      var text = "\(state.line) lines: \(state.imported) imported, \(state.failed) failed"
      if let known {
        text +=
          known.finished
          ? "; this input was imported before (--restart imports it again)"
          : "; went on after line \(known.line)"
      }
      ServerExit.note(text)
      guard json else { return }
      var object = JSONWriter(type: "import")
      object.member("app", app)
      object.member("lines", state.line)
      object.member("imported", state.imported)
      object.member("failed", state.failed)
      object.member("resumedAfter", known?.line)
      object.endObject()
      write(object)
    }

    private func write(_ object: JSONWriter) {
      try? FileHandle.standardOutput.write(contentsOf: Data(object.bytes + [0x0A]))
    }
  }

  extension ImportFailure {
    fileprivate func json(line: Int64) -> JSONWriter {
      var object = JSONWriter(type: "error")
      object.member("line", line)
      object.member("code", code)
      object.member("message", message)
      if isRetryable { object.member("retryable", true) }
      object.endObject()
      return object
    }
  }

  /// The progress of an import, on standard error while it is a terminal.
  private final class ImportProgress {
    private let isShown = isatty(STDERR_FILENO) == 1
    private let start = ContinuousClock.now
    private let firstLine: Int64
    private let byteCount: Int64
    private var shown: ContinuousClock.Instant?

    init(from state: ReceiptImport.State, of byteCount: Int64) {
      firstLine = state.line
      self.byteCount = byteCount
    }

    func show(_ state: ReceiptImport.State) {
      let now = ContinuousClock.now
      guard isShown, shown.map({ now - $0 >= .milliseconds(200) }) ?? true else { return }
      shown = now
      let seconds = max((now - start) / .seconds(1), 0.001)
      let rate = Int(Double(state.line - firstLine) / seconds)
      let share = byteCount == 0 ? 100 : 100 * state.position / byteCount
      write("\r\u{1B}[K\(share) %  \(state.line) lines, \(state.failed) failed, \(rate)/s")
    }

    func clear() {
      guard shown != nil else { return }
      shown = nil
      write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
      try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
  }
#endif
