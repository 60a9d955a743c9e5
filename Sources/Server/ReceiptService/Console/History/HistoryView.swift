// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  internal import ReceiptCodec

  /// A history as a page shows it: the drawing, the links that zoom, and the same as a table.
  struct HistoryView {
    let drawings: [[String: Any]]
    let hasDrawing: Bool
    let zooms: [[String: Any]]
    let hasZooms: Bool
    let historySummary: String
    let historyNote: String?
    let eventTable: TableView

    /// - Throws: ``Problem`` for an invalid parameter of the query.
    init(
      _ history: PurchaseHistory, id: String = "0", isTrailCut: Bool = false, app: String,
      _ visit: ConsoleVisit,
      at now: Timestamp
    ) throws {
      let window = try HistoryWindow(history, visit, at: now)
      let drawing = HistoryDrawing(history, window, at: now)
      drawings = drawing?.views(id) ?? []
      hasDrawing = drawing != nil
      zooms = history.events.isEmpty ? [] : window.links(visit, at: now)
      hasZooms = !zooms.isEmpty
      let shown = Array(history.events.enumerated().filter { window.contains($0.element) }.reversed())
      let (start, end) = (
        Timestamp(milliseconds: window.shown.lowerBound), Timestamp(milliseconds: window.shown.upperBound)
      )
      historySummary =
        "\(shown.count) \(shown.count == 1 ? "event" : "events") from \(ShownTime.day(start)) to \(ShownTime.day(end))."
      let hidden = drawing?.hiddenLaneCount ?? 0
      historyNote =
        [
          hidden > 0
            ? "\(hidden) further \(hidden == 1 ? "product is" : "products are") in the table only." : nil,
          isTrailCut ? "Only the latest entries of the audit trail are taken into account." : nil,
        ].compactMap(\.self).joined(separator: " ").nonEmpty
      let page = try visit.page(of: shown, "events-from", limit: 10)
      eventTable = TableView(
        "Events by the store's time, latest first",
        ["No.", "Happened", "Event", "Purchase", "Received", "Entry"],
        page.elements.map { index, event in Self.row(event, number: index + 1, in: history, app: app) },
        empty: history.events.isEmpty
          ? EmptyView("Nothing happened yet", "Purchases, renewals and refunds appear here.")
          : EmptyView("Nothing happened in this time", "Choose another time above."), footer: page.footer)
    }

    static func row(
      _ event: PurchaseEvent, number: Int?, in history: PurchaseHistory, app: String
    ) -> [CellView] {
      var time = CellView(time: event.time)
      if event.isTimeOfArrival { time.note = "on arrival: the store states no time" }
      let purchase = event.purchase.flatMap { history.hasPage($0) ? $0 : nil }
      return (number.map { [CellView("\($0)")] } ?? []) + [
        time, CellView(chip: event.what, style: event.style),
        CellView(
          (event.product ?? event.purchase).map { ShownText.brief($0) },
          link: purchase.map { ConsoleURL.entitlement($0, app: app) }),
        CellView(time: event.heard),
        CellView(event.entry.map { "\($0)" }, link: event.entry.map { ConsoleURL.entry($0) }),
      ]
    }
  }

  extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
  }
#endif
