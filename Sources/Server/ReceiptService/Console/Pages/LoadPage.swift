// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird

  extension ReceiptAPI {
    var loadPages: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/load", .scope(.read)) { [unowned self] visit in
          // The load is that of all apps.
          guard visit.principal?.app == nil else { throw Problem.notFound }
          return visit.page("load", title: "Load", LoadCharts(recentRequests.periods(of: LoadCharts.seconds)))
        }
      ]
    }
  }
#endif
