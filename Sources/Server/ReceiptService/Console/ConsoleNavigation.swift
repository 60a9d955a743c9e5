// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird

  /// The navigation, with the pages that a key may open.
  enum ConsoleNavigation {
    private struct Page {
      let label: String
      let path: String
      /// The scope that it needs; `nil` for any key.
      let scope: Scope?
      var ofAllApps = false
      /// The icon: an SVG path in a square of 20 units.
      let icon: String
    }

    private static let pages = [
      Page(
        label: "Home", path: "/console", scope: nil,
        icon: "M3 9.5l7-6 7 6M5 8v8.5h10V8M8.5 16.5v-5h3v5"),
      Page(
        label: "Verify", path: "/console/verify", scope: .verify,
        icon: "M10 2.5l6.5 2.4v4.6c0 4-2.7 6.9-6.5 8-3.8-1.1-6.5-4-6.5-8V4.9zM7 9.9l2.2 2.2 4-4.1"),
      Page(
        label: "Transactions", path: "/console/transactions", scope: .read,
        icon: "M5 2.5h10v15L12.5 16 10 17.5 7.5 16 5 17.5zM7.7 6.5h4.6M7.7 9.5h4.6"),
      Page(
        label: "Entitlements", path: "/console/entitlements", scope: .read,
        icon: "M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3.5 17c.6-3.2 3.2-5 6.5-5s5.9 1.8 6.5 5"),
      Page(
        label: "Refund reviews", path: "/console/refund-reviews", scope: .read,
        icon: "M7 4L3.5 7.5 7 11M3.5 7.5H12a4.5 4.5 0 0 1 0 9H7"),
      Page(
        label: "Audit trail", path: "/console/audit", scope: .read,
        icon: "M10 3v4M10 7l-4.5 4M10 7l4.5 4M4 11h3v5.5H4zM13 11h3v5.5h-3z"),
      Page(
        label: "Traffic", path: "/console/load", scope: .read, ofAllApps: true,
        icon: "M3 3.5v13h14M6.5 13V9.5M10 13V5.5M13.5 13V8"),
      Page(
        label: "Webhooks", path: "/console/webhooks", scope: .admin, icon: "M3 5.5h14v9H3zM3 6l7 5 7-5"),
      Page(
        label: "Keys", path: "/console/keys", scope: .admin,
        icon: "M7 16.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM9.5 10.5l7-7M13.5 6.5L16 9"),
      Page(
        label: "Activity log", path: "/console/acts", scope: .admin, ofAllApps: true,
        icon: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.8 1.8"),
    ]

    static func items(for visit: ConsoleVisit) -> [[String: Any]] {
      let path = visit.request.uri.path
      return pages.filter { page in
        page.scope.map(visit.may) ?? true && (!page.ofAllApps || visit.principal?.isForAllApps == true)
      }.map { page in
        [
          "target": page.path, "label": page.label, "icon": page.icon,
          "isCurrent": path == page.path || page.path != "/console" && path.hasPrefix(page.path + "/"),
        ]
      }
    }
  }
#endif
