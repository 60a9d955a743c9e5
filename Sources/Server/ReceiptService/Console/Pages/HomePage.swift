// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import Foundation
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto

  /// The first page: what came in lately, what needs a person, and a field to paste anything.
  ///
  /// It counts in the database and the audit trail, which all processes share, and up to limits.
  struct HomePage {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?
    let writeProbe: WriteProbe
    let recentRequests: RecentRequests
    /// The files of the server's own certificates.
    let certificateFiles: [String]

    var routes: [ConsoleRoute] { [ConsoleRoute(.get, "/console", .login, respond: page)] }

    private func page(_ visit: ConsoleVisit) async throws -> Response {
      let login = try visit.login
      var content: [String: Any?] = [
        "scopes": login.scopes.map(\.rawValue).sorted().joined(separator: ", "),
        "confined": login.app.map { "the app \($0)" } ?? "all apps",
        "mayPaste": visit.may(.verify) || visit.may(.read),
        "appChoice": visit.may(.verify) ? visit.appChoice(nil) : nil,
      ]
      if visit.may(.read) || visit.may(.admin) {
        content.merge(try await overview(visit)) { $1 }
      }
      return visit.page("home", title: "Home", content)
    }

    private func overview(_ visit: ConsoleVisit) async throws -> [String: Any?] {
      let now = entitlements.clock()
      let apps = visit.apps
      let isEverything = try visit.login.isForAllApps
      let configurations = apps.map(\.configuration)
      let activity = try await entitlements.database.read { session in
        try DatabaseActivity(of: configurations, isEverything: isEverything, at: now, in: session)
      }
      var tasks = await serverTasks(visit, at: now)
      var tiles: [[String: Any]] = []
      var chart: BarChart?
      var latest: TableView?
      if visit.may(.read), let auditLog {
        let audience = EntryAudience(app: nil)
        let isWanted: @Sendable (AuditEntry) -> Bool = { entry in
          isEverything ? audience.includes(entry) : apps.contains { $0.isAbout(entry) }
        }
        let (trail, entries) = try await auditLog.read { view in
          var search = EntrySearch()
          search.limit = 6
          return (
            try TrailActivity(in: view, at: now, for: isWanted),
            try search.page(in: view, where: isWanted).entries
          )
        }
        tiles.append(Self.verdictTile(trail, isEverything: isEverything))
        tasks += Self.trailTasks(trail)
        if isEverything { chart = Self.chart(trail.hours, at: now) }
        latest = EntryTable.view(
          "Latest entries", entries, app: visit.principal?.app, empty: EntryTable.nothingYet)
      }
      tiles.append(
        Self.tile(
          "Notifications of the stores", activity.notificationsOfDay.text, "in 24 hours",
          "\(activity.notificationsOfHour.text) in the last hour"))
      if visit.may(.admin) || visit.may(.read) {
        tiles.append(Self.webhookTile(activity, mayOpen: visit.may(.admin)))
        tasks += Self.webhookTasks(activity, at: now, mayOpen: visit.may(.admin))
      }
      if visit.may(.read) {
        let reviews = try await reviews(of: apps, at: now)
        tiles.append(Self.reviewTile(reviews, at: now))
        tasks += Self.reviewTasks(reviews, at: now)
      }
      if isEverything { tiles.append(requestTile(visit)) }
      return [
        "tasks": tasks, "hasTasks": !tasks.isEmpty, "isCalm": tasks.isEmpty, "tiles": tiles, "hasTiles": true,
        "chart": chart, "latest": latest,
      ]
    }

    // MARK: Tiles

    private static func tile(
      _ title: String, _ figure: String, _ unit: String, _ detail: String?, chips: [ChipView] = [],
      style: String = "", link: String? = nil
    ) -> [String: Any] {
      ConsoleVisit.present([
        "tileTitle": title, "figure": figure, "figureUnit": unit, "tileDetail": detail, "tileChips": chips,
        "hasChips": !chips.isEmpty, "tileTarget": link, "tileStyle": style,
      ])
    }

    private static func verdictTile(_ trail: TrailActivity, isEverything: Bool) -> [String: Any] {
      let (day, hour) = (trail.day, trail.hour)
      func chip(_ count: Int, _ word: String) -> ChipView {
        let view = VerdictView(word)
        return ChipView(
          "\(view.symbol) \(ShownNumber.text(count)) \(word)", style: count == 0 ? "" : view.style)
      }
      // If not all entries of the day are read, their number is known all the same, but for one app.
      let isCounted = isEverything && !day.isComplete
      let ofHour = isCounted ? trail.hours[23] : hour.count
      return tile(
        "Verdicts on receipts and notifications",
        isCounted
          ? ShownNumber.text(trail.hours.reduce(0, +))
          : ShownNumber.text(day.count) + (day.isComplete ? "" : "+"),
        isCounted ? "entries in 24 hours" : "in 24 hours",
        "\(ShownNumber.text(ofHour))\(isCounted || hour.isComplete ? "" : "+") in the last hour"
          + (day.isComplete ? "" : "; of the newest \(ShownNumber.text(Int(trail.limit))) entries:"),
        chips: [
          chip(day.valid, "valid"), chip(day.invalid, "invalid"), chip(day.undetermined, "undetermined"),
        ], style: "wide", link: "/console/transactions")
    }

    private static func webhookTile(_ activity: DatabaseActivity, mayOpen: Bool) -> [String: Any] {
      let dead = activity.dead
      return tile(
        "Webhooks", activity.waiting.text, "waiting",
        activity.endpoints.isEmpty ? "No app has an endpoint." : nil,
        chips: activity.endpoints.isEmpty
          ? [] : [ChipView("\(dead.text) given up", style: dead.value == 0 ? "" : "bad")],
        link: mayOpen ? "/console/webhooks" : nil)
    }

    private static func reviewTile(_ reviews: [Review], at now: Timestamp) -> [String: Any] {
      let next = reviews.first.map { "next deadline in \(remaining(until: $0.deadline, at: now))" }
      return tile(
        "Refund reviews", "\(reviews.count)", "to answer", next ?? "No store waits for an answer.",
        link: "/console/refund-reviews")
    }

    private func requestTile(_ visit: ConsoleVisit) -> [String: Any] {
      let periods = recentRequests.periods(of: RecentRequests.seconds)
      let (count, faults) = (periods.reduce(0) { $0 + $1.count }, periods.reduce(0) { $0 + $1.faultCount })
      return Self.tile(
        "Requests, this process only", ShownNumber.text(count), "in 10 minutes", nil,
        chips: [ChipView("\(ShownNumber.text(faults)) failed (500+)", style: faults == 0 ? "" : "bad")],
        link: visit.may(.read) ? "/console/load" : nil)
    }

    private static func chart(_ hours: [Int], at now: Timestamp) -> BarChart? {
      guard let greatest = hours.max(), greatest > 0 else { return nil }
      var chart = BarChart(
        id: "hours", title: "Audit trail", unit: "entries per hour, last 24 hours", count: hours.count,
        greatest: Double(greatest), least: 5, xLabels: ["24 h ago", "18", "12", "6", "now"],
        summary: "\(ShownNumber.text(hours.reduce(0, +))) entries in 24 hours, at most "
          + "\(ShownNumber.text(greatest)) in an hour.",
        format: LoadCharts.number)
      chart.addBars(
        hours.map(Double.init), style: "", legend: "entries of all kinds and apps, recorded by all processes")
      chart.chartTable = TableView(
        "Entries per hour, newest first", ["From", "Entries"],
        hours.enumerated().reversed().map { index, count in
          [
            CellView(time: now.addingSeconds(Double(index - hours.count) * 3600)),
            CellView(ShownNumber.text(count)),
          ]
        })
      return chart
    }

    // MARK: What needs a person

    private static func task(
      _ word: String, style: String, _ text: String, link: (target: String, text: String)? = nil
    ) -> [String: Any] {
      ConsoleVisit.present([
        "taskChip": ChipView(word, style: style), "taskText": text, "taskTarget": link?.target,
        "taskAction": link?.text,
      ])
    }

    /// The state of the server itself, which only keys for all apps see.
    private func serverTasks(_ visit: ConsoleVisit, at now: Timestamp) async -> [[String: Any]] {
      guard visit.principal?.isForAllApps == true else { return [] }
      var tasks: [[String: Any]] = []
      if let failure = await writeProbe.failure() {
        tasks.append(
          Self.task(
            "not ready", style: "bad", "This process refuses requests that must be recorded: \(failure)"))
      }
      for file in certificateFiles {
        guard let end = Self.expiry(ofFile: file) else {
          tasks.append(
            Self.task("certificate", style: "bad", "The file \(file) has no certificate that can be read."))
          continue
        }
        let seconds = (end.millisecondsSince1970 - now.millisecondsSince1970) / 1000
        guard seconds < Self.certificateWarning else { continue }
        tasks.append(
          seconds <= 0
            ? Self.task(
              "expired", style: "bad", "The certificate in \(file) expired at \(ShownTime.full(end)).")
            : Self.task(
              "expires", style: "doubtful",
              "The certificate in \(file) expires in \(ShownTime.duration(seconds)), at \(ShownTime.full(end))."
            ))
      }
      return tasks
    }

    /// The number of seconds before its expiry from which a certificate needs a person.
    private static let certificateWarning = 21.0 * 86_400

    /// The earliest expiry of the certificates in a file; `nil` if the file has no certificate.
    static func expiry(ofFile path: String) -> Timestamp? {
      guard let bytes = FileManager.default.contents(atPath: path),
        let certificates = try? Certificate.certificates(in: Array(bytes))
      else { return nil }
      let first = certificates.min { $0.notAfter < $1.notAfter }
      return first.map { Timestamp(secondsSince1970: $0.notAfter) }
    }

    private static func trailTasks(_ trail: TrailActivity) -> [[String: Any]] {
      var tasks: [[String: Any]] = []
      let day = trail.day
      if day.refusedNotifications > 0 {
        tasks.append(
          task(
            "refused", style: "bad",
            "\(ShownNumber.text(day.refusedNotifications)) notifications that a store signed were refused in 24 hours: "
              + "the policy may not fit, or they are of another app.",
            link: ("/console/transactions?verdict=invalid", "Show invalid")))
      }
      if trail.hour.undetermined > 0 {
        tasks.append(
          task(
            "not checked", style: "doubtful",
            "\(ShownNumber.text(trail.hour.undetermined)) receipts could not be checked in the last hour. The entries say "
              + "which source gave no answer.",
            link: ("/console/transactions?verdict=undetermined", "Show undetermined")))
      }
      return tasks
    }

    private static func webhookTasks(
      _ activity: DatabaseActivity, at now: Timestamp, mayOpen: Bool
    ) -> [[String: Any]] {
      var tasks: [[String: Any]] = []
      for endpoint in activity.endpoints {
        let link =
          mayOpen ? (ConsoleURL.make("/console/webhooks", [("app", endpoint.app)]), "Open webhooks") : nil
        if endpoint.dead.value > 0 {
          tasks.append(
            task(
              "given up", style: "bad",
              "Changes that the webhook \(endpoint.name) of \(endpoint.app) did not take, given up: "
                + "\(endpoint.dead.text). Deliver them again when the endpoint works.", link: link))
        }
        let age =
          endpoint.waitingSince.map { (now.millisecondsSince1970 - $0.millisecondsSince1970) / 1000 } ?? 0
        if age > 900 {
          tasks.append(
            task(
              "delayed", style: "doubtful",
              "The webhook \(endpoint.name) of \(endpoint.app) has not taken the oldest of \(endpoint.waiting.text) waiting "
                + "changes for \(ShownTime.duration(age)).", link: link))
        }
      }
      for (app, error) in activity.forwardingErrors {
        tasks.append(
          task(
            "not forwarded", style: "doubtful",
            "The old system of \(app) does not take notifications: \(ShownText.shortened(error))",
            link: mayOpen ? (ConsoleURL.make("/console/webhooks", [("app", app)]), "Open webhooks") : nil))
      }
      return tasks
    }

    // MARK: Refund reviews

    private struct Review {
      let identifier: String
      let app: String
      let deadline: Timestamp
      let state: RefundReview.State
    }

    /// The maximum number of reviews of an app that are looked through, and of those that are listed.
    private static let (maximumReviewCount, listedReviewCount) = (200, 5)

    /// The reviews that await an answer, the earliest deadline first. A store waits for a day at most.
    private func reviews(of apps: [ServedApp], at now: Timestamp) async throws -> [Review] {
      var found: [Review] = []
      for app in apps {
        let stored = try await entitlements.refundReviews(
          app: app.name, since: now.addingSeconds(-3 * 86_400), limit: Self.maximumReviewCount)
        for stored in stored {
          guard let review = stored.refundReview else { continue }
          let state = review.state(at: now)
          guard [.open, .due, .answering].contains(state) else { continue }
          found.append(
            Review(identifier: stored.identifier, app: app.name, deadline: review.deadline, state: state))
        }
      }
      return found.sorted { $0.deadline.millisecondsSince1970 < $1.deadline.millisecondsSince1970 }
    }

    private static func reviewTasks(_ reviews: [Review], at now: Timestamp) -> [[String: Any]] {
      reviews.prefix(listedReviewCount).map { review in
        task(
          review.state.rawValue, style: review.state == .due ? "bad" : "doubtful",
          "A store asks about a refund of \(ShownText.shortened(review.identifier)) (\(review.app)): answer within "
            + "\(remaining(until: review.deadline, at: now)).",
          link: (
            ConsoleURL.refundReview(review.identifier, app: review.app), "Answer"
          ))
      }
    }

    private static func remaining(until deadline: Timestamp, at now: Timestamp) -> String {
      ShownTime.duration(max(0, (deadline.millisecondsSince1970 - now.millisecondsSince1970) / 1000))
    }
  }
#endif
