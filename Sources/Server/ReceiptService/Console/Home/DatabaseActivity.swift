// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// The notifications that the stores delivered lately, and the deliveries of webhooks that are not done, of all processes.
  ///
  /// Each number is counted up to a limit, so that its cost does not depend on the length of a table.
  struct DatabaseActivity: Sendable {
    /// A number that was counted up to a limit.
    struct Count: Sendable, Hashable {
      var value = 0
      /// `true` if there are more.
      var isLeast = false

      static func + (left: Count, right: Count) -> Count {
        Count(value: left.value + right.value, isLeast: left.isLeast || right.isLeast)
      }

      var text: String { ShownNumber.text(value) + (isLeast ? "+" : "") }
    }

    struct Endpoint: Sendable {
      let app: String
      let name: String
      let waiting: Count
      let dead: Count
      /// The time of the oldest change that waits.
      let waitingSince: Timestamp?
    }

    private(set) var notificationsOfHour = Count()
    private(set) var notificationsOfDay = Count()
    private(set) var endpoints: [Endpoint] = []
    /// The apps whose notifications are not forwarded at present, with the last error.
    private(set) var forwardingErrors: [(app: String, error: String)] = []

    static let maximumCount = 10_000

    var waiting: Count { endpoints.reduce(Count()) { $0 + $1.waiting } }
    var dead: Count { endpoints.reduce(Count()) { $0 + $1.dead } }

    /// - Parameters:
    ///   - apps: The apps.
    ///   - isEverything: `true` if these are all apps of the server.
    ///   - now: The current time.
    ///   - session: A transaction.
    ///   - limit: The maximum of each number.
    /// - Throws: ``DatabaseError``.
    init(
      of apps: [AppConfiguration], isEverything: Bool, at now: Timestamp, in session: any DatabaseSession,
      limit: Int = DatabaseActivity.maximumCount
    ) throws {
      func count(_ statement: String, _ values: DatabaseValue...) throws -> Count {
        let most = DatabaseValue.integer(Int64(limit + 1))
        let found =
          try session.run(
            "SELECT count(*) FROM (\(statement) LIMIT $1) AS found", [most] + values
          ).first?.integer(0) ?? 0
        return Count(value: min(Int(found), limit), isLeast: found > limit)
      }
      let names = apps.map(\.name)
      func notifications(_ seconds: Double) throws -> Count {
        let since = DatabaseValue.integer(now.addingSeconds(-seconds).milliseconds)
        guard !isEverything else {
          return try count("SELECT 1 FROM notifications WHERE received >= $2", since)
        }
        // The index is by time alone: the limit is that of all apps.
        let found = try session.run(
          """
          SELECT app, count(*) FROM (
            SELECT app FROM notifications WHERE received >= $2 ORDER BY received DESC LIMIT $1
          ) AS found GROUP BY app
          """, .integer(Int64(limit + 1)), since)
        let all = found.reduce(0) { $0 + Int($1.integer(1)) }
        let own = found.reduce(0) { $0 + (names.contains($1.text(0)) ? Int($1.integer(1)) : 0) }
        return Count(value: own, isLeast: all > limit)
      }
      notificationsOfHour = try notifications(3600)
      notificationsOfDay = try notifications(86_400)
      for app in apps {
        for endpoint in app.webhooks {
          let key: [DatabaseValue] = [.text(app.name), .text(endpoint.name)]
          let first = try session.run(
            """
            SELECT changes.time FROM deliveries JOIN changes ON sequence = change
            WHERE deliveries.app = $1 AND endpoint = $2 AND state = 0 ORDER BY change LIMIT 1
            """, key
          ).first
          let own = "SELECT 1 FROM deliveries WHERE app = $2 AND endpoint = $3 AND state ="
          endpoints.append(
            Endpoint(
              app: app.name, name: endpoint.name, waiting: try count("\(own) 0", key[0], key[1]),
              dead: try count("\(own) 1", key[0], key[1]),
              waitingSince: first.map { Timestamp(milliseconds: $0.integer(0)) }))
        }
        guard app.forwarding != nil else { continue }
        let error = try session.run("SELECT error FROM forward_queues WHERE app = $1", .text(app.name))
          .first?.optionalText(0)
        if let error { forwardingErrors.append((app.name, error)) }
      }
    }
  }

  /// Formats whole numbers with separators, as in `12,345`.
  enum ShownNumber {
    static func text(_ number: Int) -> String {
      let digits = String(number.magnitude)
      var text = ""
      for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
      }
      return (number < 0 ? "−" : "") + text
    }
  }
#endif
