// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes

  /// The page that links to all others, and the one with charts of the requests of the last minutes.
  struct OverviewPages {
    let recentRequests: RecentRequests

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console", .login) { visit in
          let login = try visit.login
          return visit.page(
            "home", title: "Home",
            [
              "scopes": login.scopes.map(\.rawValue).sorted().joined(separator: ", "),
              "confined": login.app.map { "the app \($0)" } ?? "all apps",
              "hasPages": !ConsoleNavigation.items(for: visit).isEmpty,
            ])
        },
        ConsoleRoute(.get, "/console/load", .scope(.read)) { visit in
          // The load is that of all apps.
          try visit.login.require(app: nil)
          return visit.page(
            "load", title: "Load", content: LoadCharts(recentRequests.periods(of: LoadCharts.seconds)))
        },
      ]
    }
  }
#endif
