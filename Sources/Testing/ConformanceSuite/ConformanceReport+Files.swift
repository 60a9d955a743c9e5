// SPDX-License-Identifier: Apache-2.0

extension ConformanceReport {
  /// The report as JUnit, for programs that show test results.
  package var junit: String {
    let lines = results.map { result in
      // `group::subject::name` is a test of the class `group::subject`.
      let colons = result.id.ranges(of: "::").last
      let group = colons.map { String(result.id[..<$0.lowerBound]) } ?? ""
      let name = colons.map { String(result.id[$0.upperBound...]) } ?? result.id
      let tag: String? =
        switch result.outcome {
        case .pass: nil
        case .skip, .expectedFailure: "skipped"
        case .crash, .hang: "error"
        case .fail, .unexpectedPass: "failure"
        }
      let said = [result.expectedBecause, result.detail, result.context].compactMap(\.self)
      let inside = tag.map { "<\($0) message=\"\(Self.escaped(said.joined(separator: "; ")))\"/>" } ?? ""
      let names = "classname=\"\(Self.escaped(group))\" name=\"\(Self.escaped(name))\""
      return "<testcase \(names) time=\"\(result.seconds ?? 0)\">\(inside)</testcase>\n"
    }
    let failures = counts[.fail] + counts[.unexpectedPass]
    let totals =
      "tests=\"\(results.count)\" failures=\"\(failures)\" errors=\"\(counts[.crash] + counts[.hang])\" "
      + "skipped=\"\(counts[.skip] + counts[.expectedFailure])\""
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites><testsuite name="\(Self.escaped(name))" \(totals)>
      \(lines.joined())</testsuite></testsuites>

      """
  }

  /// The report as Markdown, for the page of a run on a forge.
  package var markdown: String {
    let used = counts.outcomes
    let status = isConformant ? "conformant" : isComplete ? "not conformant" : "partial run"
    var lines = [
      "## \(Self.code(name)): \(status)", "",
      "Suite \(suite.version), grade \(grade.rawValue): \(counts.text).", "",
    ]
    lines += problems.map { "- \(Self.code($0))" } + [""]
    lines.append("| Feature | " + used.map(\.rawValue).joined(separator: " | ") + " |")
    lines.append("|---" + String(repeating: "|---:", count: used.count) + "|")
    lines += features.map { feature in
      let cells = used.map { feature.counts[$0] == 0 ? "" : "\(feature.counts[$0])" }
      return "| \(feature.name) | " + cells.joined(separator: " | ") + " |"
    }
    lines.append("")
    if !bad.isEmpty { lines += ["| Case | Importance | Outcome | |", "|---|---|---|---|"] }
    let failed = zip(cases, results).filter(\.1.outcome.isBad)
    lines += failed.prefix(Self.maximumShownCount).map { each, result in
      let said = [result.detail, result.expectedBecause, result.context].compactMap(\.self)
      let cell = "\(Self.code(each.description))<br>\(Self.code(said.joined(separator: "; ")))"
      return "| \(result.id) | \(result.importance) | \(result.outcome.rawValue) | \(cell) |"
    }
    if failed.count > Self.maximumShownCount {
      lines += ["", "And \(failed.count - Self.maximumShownCount) more."]
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The report as one HTML page without scripts, and without anything from elsewhere.
  package var html: String {
    let name = Self.escaped(name)
    let used = counts.outcomes
    let heads = used.map { "<th scope=\"col\" class=\"number\">\($0.rawValue)</th>" }.joined()
    let rows = features.map { feature in
      let cells = used.map { outcome in
        "<td class=\"number\">\(feature.counts[outcome] == 0 ? "" : "\(feature.counts[outcome])")</td>"
      }
      return "<tr><td><code>\(Self.escaped(feature.name))</code></td>\(cells.joined())</tr>\n"
    }
    let problems = problems.map { "<li class=\"bad\">\(Self.escaped($0))</li>" }.joined()
    return """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(name): receipt conformance</title><style>\(Self.style)</style></head><body><main>
      <h1>\(name)</h1>
      <p class="\(isConformant ? "good" : "bad")"><strong>\(Self.escaped(statement))</strong></p>
      <p>Suite \(Self.escaped(suite.version)) of \(suite.cases.count) cases, sha256
      <code>\(suite.sha256)</code>, grade \(grade.rawValue).</p>
      <ul>\(problems)</ul>
      <h2>Features</h2>
      <div class="wide"><table><thead><tr><th scope="col">Feature</th>\(heads)</tr></thead><tbody>
      \(rows.joined())</tbody></table></div>
      <h2>Cases</h2>
      \(used.map(section).joined())</main></body></html>

      """
  }

  /// The cases of an outcome, which fold.
  private func section(_ outcome: CaseOutcome) -> String {
    let rows = zip(cases, results).filter { $0.1.outcome == outcome }.map { each, result in
      let said = [result.expectedBecause, result.detail, result.context].compactMap(\.self).map(Self.escaped)
      return "<tr><td><code>\(Self.escaped(each.id))</code></td><td>\(Self.escaped(each.importance))</td>"
        + "<td>\(Self.escaped(each.description))</td><td>\(said.joined(separator: "<br>"))</td></tr>\n"
    }
    let heads = ["Case", "Importance", "What it is", "Result"].map { "<th scope=\"col\">\($0)</th>" }
    return """
      <details\(outcome.isBad ? " open" : "")><summary>\(outcome.rawValue): \(rows.count)</summary>
      <div class="wide"><table><thead><tr>\(heads.joined())</tr></thead><tbody>
      \(rows.joined())</tbody></table></div></details>

      """
  }

  private static let style = """
    :root { color-scheme: light dark; --line: #8886; --bad: #b3261e; --good: #1b6e3c; }
    @media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #7bd99c; } }
    body { font: 1rem/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
    table { border-collapse: collapse; width: 100%; }
    th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left; }
    td { vertical-align: top; overflow-wrap: anywhere; }
    td.number, th.number { text-align: right; }
    summary { font-size: 1.2rem; cursor: pointer; padding: .5rem 0; }
    .bad { color: var(--bad); } .good { color: var(--good); }
    code { font-size: .9em; } .wide { overflow-x: auto; }
    """

  /// The text in HTML and XML, also between quotation marks.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#x27;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }

  /// The text as code in Markdown: within code, and by numbers, nothing is a mark, a link or a mention.
  private static func code(_ text: String) -> String {
    let plain = " .,:;/=()+-"
    let escaped = HarnessText.shown(text, limit: 300).unicodeScalars.map { scalar in
      let isWord = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
      return isWord || plain.unicodeScalars.contains(scalar) ? String(scalar) : "&#\(scalar.value);"
    }
    return "<code>\(escaped.joined())</code>"
  }
}
