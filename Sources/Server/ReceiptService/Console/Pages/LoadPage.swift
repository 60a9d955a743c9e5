// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird

  /// The page with charts of the requests of the last minutes.
  struct LoadPage: ConsolePages {
    let recentRequests: RecentRequests

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/load", .scope(.read)) { visit in
          // The load is that of all apps.
          try visit.login.require(app: nil)
          return visit.page("load", title: "Load", LoadCharts(recentRequests.periods(of: LoadCharts.seconds)))
        }
      ]
    }
  }
#endif
