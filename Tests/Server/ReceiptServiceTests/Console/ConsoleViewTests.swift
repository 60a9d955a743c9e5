// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptCodec
  @testable import ReceiptService
  import Testing

  @Suite("Console views")
  struct ConsoleViewTests {
    private static let summer = Timestamp(secondsSince1970: 1_751_360_400)  // 2025-07-01T09:00:00Z
    private static let winter = Timestamp(secondsSince1970: 1_735_722_000)  // 2025-01-01T09:00:00Z

    @Test("Times are in the zone of the visit, and say which")
    func zones() throws {
      #expect(ShownTime.full(Self.summer) == "2025-07-01 09:00:00 UTC")
      let berlin = try #require(ShownZone("Europe/Berlin"))
      ShownTime.$zone.withValue(berlin) {
        #expect(ShownTime.full(Self.summer) == "2025-07-01 11:00:00 +02:00")
        #expect(ShownTime.full(Self.winter) == "2025-01-01 10:00:00 +01:00")
        let view = TimeView(Self.summer)
        #expect(view.timeValue == "2025-07-01T09:00:00Z")
        #expect(view.timeTitle.hasPrefix("Europe/Berlin"))
      }
      ShownTime.$zone.withValue(ShownZone("America/St_Johns") ?? .utc) {
        #expect(ShownTime.full(Self.winter) == "2025-01-01 05:30:00 −03:30")
        #expect(ShownTime.day(Timestamp(secondsSince1970: 1_735_693_200)) == "2024-12-31")
      }
    }

    @Test("A zone is one of the database's, and survives the cookie")
    func storedZones() throws {
      for text in ["UTC", "Europe/Berlin", "browser:Asia/Kolkata", "browser:UTC"] {
        let zone = try #require(ShownZone(text), "\(text)")
        #expect(zone.stored == text)
      }
      #expect(ShownZone("UTC") == .utc)
      for text in [
        "", "GMT+25", "EST", "Mars/Olympus", "browser:", "../zone", String(repeating: "a/", count: 50),
      ] {
        #expect(ShownZone(text) == nil, "\(text)")
      }
      #expect(ShownZone.names.contains("Europe/Zurich") && ShownZone.names.count > 300)
      #expect(ShownZone.names.allSatisfy { ShownZone($0) != nil })
    }

    @Test("A long identifier is shortened in the middle, and whole in the page")
    func identifiers() throws {
      let short = IdentifierView("2000000811223344")
      #expect(short.idHead == "2000000811223344" && short.idMiddle == nil)
      let customer = "7f3a0c52-1e6c-4d0c-9d38-0a5f3f0c2b11"
      let long = IdentifierView(customer)
      #expect((long.idHead, long.idTail) == ("7f3a0c52", "c2b11"))
      #expect(long.idHead + (long.idMiddle ?? "") + long.idTail == customer)
      let page = try ConsoleTemplates().render(
        "facts", ["facts": [FactView("Customer", identifier: "<b>" + customer)].compactMap(\.self)])
      #expect(page.contains("&lt;b&gt;7f3a0<span class=\"clipped\""), "\(page)")
      #expect(!page.contains("<b>"))
    }

    @Test("Durations are in two units")
    func durations() {
      for (seconds, text) in [
        (0.0, "0 s"), (59.9, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (12_000, "3 h 20 min"),
        (90_000, "1 d 1 h"), (-5, "0 s"), (.infinity, ShownTime.duration(1e15)),
      ] {
        #expect(ShownTime.duration(seconds) == text, "\(seconds)")
      }
    }

    @Test("A fold is a heading with content that can be opened without JavaScript")
    func folds() throws {
      var chart = BarChart(
        id: "test", title: "A <chart>", unit: "per hour", count: 2, greatest: 3, least: 1,
        xLabels: ["before", "now"], summary: "Three.", format: LoadCharts.number)
      chart.addBars([1, 3], style: "", legend: "all")
      chart.chartTable = TableView("Counts", ["Hour", "Count"], [[CellView("1"), CellView("3")]])
      let page = try ConsoleTemplates().render("chart", chart)
      #expect(page.contains("<summary>A &lt;chart&gt;: as a table</summary>"))
      #expect(page.contains("<caption>Counts</caption>"))
      #expect(page.contains("aria-label=\"A &lt;chart&gt;. Three.\""))
      #expect(page.split(separator: "<rect class=\"bar ").count == 3)
    }

    @Test("A list without elements says what to do next")
    func emptyLists() throws {
      let table = TableView(
        "Keys", ["Name"], [], empty: EmptyView("No keys", "Make one.", link: "/console/keys", "Make a key"))
      let page = try ConsoleTemplates().render("rows", table)
      #expect(page.contains("Make one.") && !page.contains("<table"))
      #expect(page.contains("<a class=\"button\" href=\"/console/keys\">Make a key</a>"))
    }

    @Test("Parameters are added to an address with a query and to one without")
    func addresses() {
      #expect(ConsoleURL.adding([("a", "1"), ("b", nil)], to: "/x") == "/x?a=1")
      #expect(ConsoleURL.adding([("a", "&")], to: "/x?y=1") == "/x?y=1&a=%26")
      #expect(ConsoleURL.adding([("a", nil)], to: "/x") == "/x")
    }
  }
#endif
