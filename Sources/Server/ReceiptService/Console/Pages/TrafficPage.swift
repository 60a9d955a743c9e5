// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes

  /// The page with charts of the requests of the last minutes.
  struct TrafficPage {
    let recentRequests: RecentRequests

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/load", .scope(.read)) { visit in
          // The traffic is that of all apps.
          try visit.login.require(app: nil)
          return visit.page(
            "load", title: "Traffic", content: LoadCharts(recentRequests.periods(of: LoadCharts.seconds)))
        }
      ]
    }
  }
#endif
