// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird

  /// The page that links to all others.
  struct HomePage: ConsolePages {
    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console", .login) { visit in
          struct Home {
            let scopes: String
            let confined: String
            let hasPages: Bool
          }
          let principal = visit.principal
          return visit.page(
            "home", title: "Console",
            Home(
              scopes: principal?.scopes.map(\.rawValue).sorted().joined(separator: ", ") ?? "",
              confined: principal?.app.map { "the app \($0)" } ?? "all apps",
              hasPages: !ConsoleNavigation.items(for: visit).isEmpty))
        }
      ]
    }
  }
#endif
