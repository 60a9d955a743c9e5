// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptHTTP
  internal import ReceiptVerification

  // The values that templates show. A nested value must not use the member names of the value that contains it: if a
  // template does not find a name in the inner value, it looks for it in the outer one.

  struct TableView {
    let caption: String
    let columns: [String]
    let rows: [[String: [CellView]]]
    // Stored, because templates do not see computed properties.
    let hasRows: Bool
    /// The text for a table without rows, with what to do next.
    let empty: EmptyView
    /// The position of the rows in a longer list; `nil` if they are the whole list.
    let footer: ListFooter?

    /// - Parameters:
    ///   - caption: The caption of the table.
    ///   - columns: The headings of the columns.
    ///   - rows: The cells, one for each column; the first is the heading of the row.
    ///   - empty: The text for a table without rows.
    ///   - footer: The position of the rows in a longer list; `nil` if they are the whole list.
    init(
      _ caption: String, _ columns: [String], _ rows: [[CellView]], empty: EmptyView,
      footer: ListFooter? = nil
    ) {
      self.caption = caption
      self.columns = columns
      self.rows = rows.map { cells in
        let cells = cells.enumerated().map { index, cell in
          var cell = cell
          cell.isHeading = index == 0
          cell.columnLabel = columns.indices.contains(index) ? columns[index] : ""
          let isShort = !cell.isText || cell.value.utf8.count <= (index == 0 ? 30 : 24)
          if isShort, cell.note == nil, cell.style != "words" { cell.style += " short" }
          return cell
        }
        return ["cells": cells]
      }
      hasRows = !rows.isEmpty
      self.empty = empty
      self.footer = footer
    }
  }

  struct CellView {
    let value: String
    var cellTarget: String?
    /// A class of the style sheet: `good`, `bad`, `doubtful`, `depth-2`.
    var style = ""
    var note: String?
    var isHeading = false
    var columnLabel = ""
    /// `true` if the cell shows ``value``, and nothing of the following.
    private(set) var isText = true
    private(set) var cellForm: [String: Any]?
    /// The parts of a text that is broken into lines between them.
    private(set) var cellParts: [String] = []
    private(set) var cellTime: TimeView?
    private(set) var cellIdentifier: IdentifierView?
    private(set) var cellChip: ChipView?

    init(_ value: String?, link: String? = nil, style: String = "", note: String? = nil) {
      self.value = value.map { ShownText.shortened($0) } ?? "–"
      cellTarget = link
      self.style = value == nil ? "\(style) none" : style
      self.note = note
    }

    /// Creates the cell of words in capitals, such as the type of a notification, broken at low lines and spaces alone.
    init(words: String, note: String? = nil) {
      self.init(nil as String?, note: note)
      isText = false
      var part = ""
      for character in ShownText.shortened(words) {
        part.append(character)
        guard character == "_" else { continue }
        cellParts.append(part)
        part = ""
      }
      cellParts.append(part)
      style = "words"
    }

    /// Creates the cell of an instant, on one line.
    init(time instant: Timestamp?, style: String = "") {
      self.init(nil as String?, style: style)
      guard let instant else { return }
      isText = false
      cellTime = TimeView(instant)
      self.style = "\(style) time"
    }

    /// Creates the cell of an identifier, which is shortened in the middle.
    init(identifier: String?, link: String? = nil, note: String? = nil) {
      self.init(nil as String?, note: note)
      guard let identifier else { return }
      isText = false
      cellIdentifier = IdentifierView(identifier, link: link)
      style = "id"
    }

    /// Creates a cell with a chip.
    init(chip text: String?, style: String = "", note: String? = nil) {
      self.init(nil as String?, note: note)
      guard let text else { return }
      isText = false
      cellChip = ChipView(text, style: style)
      self.style = "chip-cell"
    }

    /// Creates a form with one button and hidden fields, besides the token.
    ///
    /// Opening it by the summary, which names the action, is the confirmation.
    init(
      form action: String, _ summary: String, button: String, subject: String, _ fields: [(String, String)]
    ) {
      value = ""
      isText = false
      cellForm = [
        "action": action, "summary": summary, "button": button, "subject": subject,
        "hidden": fields.map { ["fieldName": $0.0, "fieldValue": $0.1] },
      ]
    }

    init(_ milliseconds: Int64?) { self.init(time: milliseconds.map { Timestamp(milliseconds: $0) }) }

    init(_ verdict: VerdictView) {
      self.init(chip: "\(verdict.symbol) \(verdict.word)", style: verdict.style)
    }
  }

  struct ChoiceView {
    let choiceName: String
    let choiceLabel: String
    let options: [[String: Any]]

    init(name: String, label: String, options: [(value: String, label: String)], chosen: String) {
      choiceName = name
      choiceLabel = label
      self.options = options.map {
        ["optionValue": $0.value, "optionLabel": $0.label, "isChosen": $0.value == chosen]
      }
    }
  }

  struct FactView {
    let term: String
    let fact: String
    var factStyle = ""
    var factTarget: String?
    private(set) var isFactText = true
    private(set) var factTime: TimeView?
    private(set) var factIdentifier: IdentifierView?

    init?(_ term: String, _ fact: String?, style: String = "", link: String? = nil) {
      guard let fact else { return nil }
      self.term = ShownText.shortened(term)
      self.fact = ShownText.shortened(fact)
      factStyle = style
      factTarget = link
    }

    /// Creates the line of an instant.
    init?(_ term: String, time instant: Timestamp?) {
      guard let instant else { return nil }
      self.init(term, "")
      isFactText = false
      factTime = TimeView(instant)
    }

    /// Creates the line of an identifier, which is shortened in the middle.
    init?(_ term: String, identifier: String?, link: String? = nil) {
      guard let identifier else { return nil }
      self.init(term, "")
      isFactText = false
      factIdentifier = IdentifierView(identifier, link: link)
    }
  }

  /// A verdict in words and with a symbol, so that its meaning does not depend on color.
  struct VerdictView {
    let word: String
    let symbol: String
    private(set) var style: String
    /// The advice for a receipt with this verdict.
    private(set) var consequence: String

    /// Creates the view of a verdict on a receipt, whose purchases may not stand although it is genuine.
    init(_ verdict: Verdict, at now: Timestamp) {
      self.init(verdict.word)
      guard case .valid(let receipt) = verdict else { return }
      switch receipt.standing(at: now) {
      case let standing? where !standing.grantsAccess:
        style = "doubtful"
        consequence =
          "Genuine, and as the policy demands. Do not grant anything for it now: its purchase is "
          + "\(standing.status.rawValue)."
      case nil: consequence = "Genuine, and as the policy demands. It states no purchase to grant."
      default: break
      }
    }

    init(_ verdict: String) {
      word = verdict
      switch verdict {
      case "valid":
        (symbol, style) = ("✓", "good")
        consequence = "Genuine, and as the policy demands. Grant the purchases that are active."
      case "invalid":
        (symbol, style) = ("✗", "bad")
        consequence = "Do not grant anything for it."
      default:
        (symbol, style) = ("?", "doubtful")
        consequence =
          "It could not be checked. Try again later: this is neither a valid receipt nor proof of a forgery."
      }
    }
  }

  /// An identifier. A long one is shortened in the middle on the screen.
  ///
  /// The whole identifier stays in the page, so that it is found, copied and read aloud as it is.
  struct IdentifierView {
    let idValue: String
    let idHead: String
    let idMiddle: String?
    let idTail: String
    let idTarget: String?

    /// The greatest number of characters that are shown whole, and those that a longer identifier begins and ends with.
    private static let (wholeCount, headCount, tailCount) = (20, 8, 5)

    init(_ identifier: String, link: String? = nil) {
      let text = ShownText.shortened(identifier)
      idValue = text
      idTarget = link
      guard text.count > Self.wholeCount else {
        (idHead, idMiddle, idTail) = (text, nil, "")
        return
      }
      idHead = String(text.prefix(Self.headCount))
      idMiddle = String(text.dropFirst(Self.headCount).dropLast(Self.tailCount))
      idTail = String(text.suffix(Self.tailCount))
    }
  }

  /// The text instead of an empty list, with what to do next.
  struct EmptyView {
    let emptyTitle: String
    let emptyText: String?
    var emptyTarget: String?
    var emptyAction = ""

    init(_ title: String, _ text: String? = nil, link: String? = nil, _ action: String = "") {
      (emptyTitle, emptyText, emptyTarget, emptyAction) = (title, text, link, action)
    }
  }

  /// A finding in a word or two.
  struct ChipView {
    let chipSubject: String?
    let chipText: String
    let chipStyle: String

    /// - Parameters:
    ///   - text: The finding.
    ///   - style: `good`, `bad`, `doubtful`, or empty.
    ///   - subject: The subject of the finding, if that is not clear from its place.
    init(_ text: String, style: String = "", of subject: String? = nil) {
      chipSubject = subject
      chipText = ShownText.shortened(text)
      chipStyle = style
    }

    /// Returns the three findings about a receipt: whether it is genuine, its environment, and its standing. The last two
    /// are known only of one whose signature is valid.
    static func list(_ verdict: Verdict, at now: Timestamp) -> [ChipView] {
      guard let receipt = verdict.signatureVerified else {
        let isInvalid = if case .invalid = verdict { true } else { false }
        return [
          ChipView(
            isInvalid ? "no" : "not checked", style: isInvalid ? "bad" : "doubtful", of: "genuine")
        ]
      }
      let environment = receipt.environment.map {
        $0.plainName + (receipt.isEnvironmentProven ? "" : ", claimed")
      }
      let standing = receipt.standing(at: now)
      let since = standing?.since.map { " since \(ShownTime.full($0))" } ?? ""
      return [
        ChipView("yes", style: "good", of: "genuine"),
        ChipView(
          environment ?? "not stated", style: receipt.isEnvironmentProven ? "" : "doubtful",
          of: "environment"),
        ChipView(
          standing.map { $0.status.rawValue + since } ?? "no purchase",
          style: standing.map { $0.grantsAccess ? "good" : $0.status == .unknown ? "doubtful" : "bad" }
            ?? "", of: "standing"),
      ]
    }
  }

  extension TableView {
    /// Creates a table whose text without rows is a line.
    init(
      _ caption: String, _ columns: [String], _ rows: [[CellView]], empty: String = "None.",
      footer: ListFooter? = nil
    ) {
      self.init(caption, columns, rows, empty: EmptyView(empty), footer: footer)
    }
  }

  extension ShownText {
    /// The maximum number of Unicode scalars that are shown of a value, which in untrusted receipts has any length.
    static let longestValue = 2000

    /// The text, cut off after ``longestValue`` scalars.
    static func shortened(_ text: String) -> String {
      guard text.utf8.count > longestValue else { return text }
      let scalars = text.unicodeScalars
      let shown = scalars.prefix(longestValue)
      guard shown.endIndex < scalars.endIndex else { return text }
      return "\(String(shown))… (\(text.utf8.count) bytes)"
    }

    /// The text, cut off for a sentence.
    static func brief(_ text: String, limit: Int = 80) -> String {
      text.count > limit ? "\(text.prefix(limit - 1))…" : text
    }

    /// The text, shortened in the middle for a heading.
    static func middle(_ text: String) -> String {
      text.count > 40 ? "\(text.prefix(20))…\(text.suffix(12))" : text
    }
  }

  enum ConsoleURL {
    /// A path with a query; parameters without a value are left out.
    static func make(_ path: String, _ parameters: [(String, String?)] = []) -> String {
      let query = parameters.compactMap { name, value in
        value.flatMap { $0.isEmpty ? nil : "\(name)=\(PercentEncoding.encode($0))" }
      }
      return query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))"
    }

    /// The address with further parameters.
    static func adding(_ parameters: [(String, String?)], to address: String) -> String {
      let query = make("", parameters).dropFirst()
      return query.isEmpty ? address : "\(address)\(address.contains("?") ? "&" : "?")\(query)"
    }

    static func entry(_ index: UInt64) -> String { "/console/audit/entries/\(index)" }

    static let customers = "/console/customer"

    static func customer(_ id: String, app: String) -> String {
      make(customers, [("id", id), ("app", app)])
    }

    /// `nil` for an identifier that is longer than those that the trail records.
    static func transaction(_ id: String) -> String? {
      id.utf8.count > longestIdentifier ? nil : make("/console/transactions", [("transaction", id)])
    }

    /// The maximum number of bytes of an identifier that comes into an address.
    static let longestIdentifier = 512

    static func refundReview(_ id: String, app: String) -> String {
      make("/console/refund-reviews/\(PercentEncoding.encode(id))", [("app", app)])
    }

    static func entitlement(_ id: String, app: String) -> String {
      make("/console/entitlements/\(PercentEncoding.encode(id))", [("app", app)])
    }
  }

  /// The part of a list that a page of the console shows at a cost that does not depend on the list's length.
  struct ListPage<Element> {
    let elements: [Element]
    let start: Int
    /// The footer below the elements; `nil` if the list fits on one page.
    let footer: ListFooter?

    /// - Parameters:
    ///   - list: The whole list.
    ///   - start: The index of the first element to show; if it is beyond the end, the last page is shown.
    ///   - limit: The maximum number of elements on a page.
    ///   - address: Returns the URL of the page that begins at an index.
    init(_ list: [Element], from start: Int, limit: Int, address: (Int) -> String) {
      let lastStart = max(0, (list.count - 1) / limit * limit)
      let start = min(max(0, start), lastStart)
      let end = min(start + limit, list.count)
      self.start = start
      elements = Array(list[start..<end])
      footer =
        list.count <= limit
        ? nil
        : ListFooter(
          footerText: "\(start + 1) to \(end) of \(list.count)",
          previousTarget: start == 0 ? nil : address(max(0, start - limit)),
          nextTarget: end == list.count ? nil : address(end))
    }
  }

  extension ConsoleVisit {
    /// The part of a list that the query asks for.
    ///
    /// - Throws: ``Problem`` if the parameter is not a number.
    func page<Element>(of list: [Element], _ name: String = "from", limit: Int = 100) throws -> ListPage<
      Element
    > {
      let start = try request.integerParameter(name, 0...Int64(Int32.max), default: 0)
      let others = request.uri.queryParameters.filter { $0.key != name[...] }.map {
        (String($0.key), Optional(String($0.value)))
      }
      return ListPage(list, from: Int(start), limit: limit) { start in
        ConsoleURL.make(request.uri.path, others + [(name, "\(start)")])
      }
    }
  }
#endif
