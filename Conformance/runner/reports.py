# SPDX-License-Identifier: Apache-2.0
"""The report of a run: JSON, JUnit, Markdown, and one HTML page. What a harness wrote is hostile in all of them."""

import collections
import fnmatch
import html
import json
import re

OUTCOMES = ("pass", "fail", "crash", "hang", "unexpected-pass", "expected-failure", "skip")
BAD = ("fail", "crash", "hang", "unexpected-pass")
SHOWN = 50
UNPRINTABLE = "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"


def clean(text, limit=1000):
    """A text of the harness for people: in one line, without control characters, of bounded length."""
    text = re.sub(UNPRINTABLE, "\N{REPLACEMENT CHARACTER}", " ".join(str(text).split()))
    return text if len(text) <= limit else text[:limit] + "…"


def shown(value):
    """A value of the harness or of a case, for people."""
    return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")), 300)


def summarize(suite, digest, grade, patterns, declared, chosen, results):
    """The report, which is also its JSON."""
    complete = len(chosen) == len(suite["cases"])
    listed = [{"id": c["id"], "importance": c["importance"], **results.get(c["id"], {"outcome": "skip"})} for c in chosen]
    counts, features = collections.Counter(), collections.defaultdict(collections.Counter)
    controls = collections.defaultdict(list)
    for case, result in zip(chosen, listed):
        for counter in (counts, *(features[name] for name in case["features"])):
            counter[result["outcome"]] += 1
        if case["expected"]["verdict"] == "valid":
            controls[case["features"][0]].append(result["outcome"])
    # Who refuses everything would pass every case of what must be refused.
    problems = [
        f"no valid case of {kind} passes, so that its other cases prove nothing"
        for kind, outcomes in sorted(controls.items()) if kind in declared["features"] and "pass" not in outcomes
    ]  # fmt: skip
    failing = [result["id"] for result in listed if result["outcome"] == "expected-failure"]
    if complete:
        stale = [pattern for pattern in patterns if not any(fnmatch.fnmatchcase(name, pattern) for name in failing)]
        problems += [f"the expected failure {clean(pattern)} matches no case that fails" for pattern in stale]
    as_expected = not problems and not any(counts[outcome] for outcome in BAD)
    conformant = complete and as_expected and counts["pass"] > 0 and not counts["expected-failure"]
    conformant = conformant and (grade == 1 or declared["reasons"])
    harness = {n: [clean(e, 100) for e in v] if isinstance(v, list) else clean(v, 100) if isinstance(v, str) else v
               for n, v in declared.items()}  # fmt: skip
    # Of a feature that no case needs, nothing was measured.
    concerned = ", ".join(sorted(name for name in features if name in declared["features"] and features[name]["pass"]))
    statement = f"conformant to receipt-conformance {suite['version']}, grade {grade}, for {concerned}"
    different = collections.Counter(difference["member"] for result in listed for difference in result.get("differences", ()))
    return {
        "format": "receipt-conformance-report-1",
        "suite": {"version": suite["version"], "sha256": digest, "cases": len(suite["cases"])},
        "harness": harness,
        "grade": grade,
        "complete": complete,
        "asExpected": as_expected,
        "conformant": conformant,
        "statement": statement if conformant else "not " + statement if complete else "partial: no statement on conformance",
        "counts": {outcome: counts[outcome] for outcome in OUTCOMES},
        "features": {name: {o: features[name][o] for o in OUTCOMES} for name in sorted(features)},
        "secondGradeDifferences": {n: different[n] for n in ("verdict", "reason", "place") if declared.get(n + "s", True)},
        "problems": problems,
        "results": listed,
    }


def bad(report):
    return [result for result in report["results"] if result["outcome"] in BAD]


def text(report):
    """What the runner prints."""
    counts = ", ".join(f"{count} {outcome}" for outcome, count in report["counts"].items() if count)
    lines = [f"{r['outcome']}: {r['id']}: {r.get('detail') or r.get('expectedBecause', '')}" for r in bad(report)[:SHOWN]]
    lines += [f"and {len(bad(report)) - SHOWN} more"] * (len(bad(report)) > SHOWN) + report["problems"]
    different = ", ".join(f"{count} {member}" for member, count in report["secondGradeDifferences"].items())
    name = f"{report['harness']['harness']} {report['harness']['version']}"
    lines += [f"{name}: {counts or 'no case'}", f"differences of the second grade: {different}", report["statement"]]
    return "\n".join(lines)


def as_json(report, suite):
    return json.dumps(report, indent=1) + "\n"


def as_junit(report, suite):
    def attribute(value):
        return '"' + html.escape(str(value)) + '"'

    counts = report["counts"]
    totals = (
        f'tests="{len(report["results"])}" failures="{counts["fail"] + counts["unexpected-pass"]}" '
        f'errors="{counts["crash"] + counts["hang"]}" skipped="{counts["skip"] + counts["expected-failure"]}"'
    )
    name = f"{report['harness']['harness']} {report['harness']['version']}"
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites><testsuite name={attribute(name)} {totals}>"]
    for result in report["results"]:
        group, _, name = result["id"].rpartition("::")
        said = attribute("; ".join(result[n] for n in ("expectedBecause", "detail", "context") if n in result))
        tag = "skipped" if result["outcome"] in ("skip", "expected-failure") else "failure"
        tag = "error" if result["outcome"] in ("crash", "hang") else tag
        inside = "" if result["outcome"] == "pass" else f"<{tag} message={said}/>"
        lines.append(f'<testcase classname="{group}" name="{name}" time="{result.get("seconds", 0)}">{inside}</testcase>')
    return "\n".join([*lines, "</testsuite></testsuites>", ""])


def as_markdown(report, suite):
    def code(value):
        """Within code, and by numbers, nothing is a mark, a link or a mention."""
        return "<code>" + re.sub(r"[^\w .,:;/=()+-]|_", lambda found: f"&#{ord(found[0])};", clean(value, 300)) + "</code>"

    descriptions = {case["id"]: case["description"] for case in suite["cases"]}
    used = [outcome for outcome, count in report["counts"].items() if count]
    lines = [
        f"## {code(report['harness']['harness'] + ' ' + report['harness']['version'])}: "
        + ("conformant" if report["conformant"] else "not conformant" if report["complete"] else "partial run"),
        "", f"Suite {report['suite']['version']}, grade {report['grade']}: "
        + ", ".join(f"{report['counts'][outcome]} {outcome}" for outcome in used) + ".", "",
        *(f"- {code(problem)}" for problem in report["problems"]), "",
        "| Feature | " + " | ".join(used) + " |", "|---" + "|---:" * len(used) + "|",
        *(f"| {name} | " + " | ".join(str(c[o] or "") for o in used) + " |" for name, c in report["features"].items()), "",
    ]  # fmt: skip
    if bad(report):
        lines += ["| Case | Importance | Outcome | |", "|---|---|---|---|"]
    for result in bad(report)[:SHOWN]:
        said = code("; ".join(result[n] for n in ("detail", "expectedBecause", "context") if n in result))
        said = f"{code(descriptions[result['id']])}<br>{said}"
        lines.append(f"| {result['id']} | {result['importance']} | {result['outcome']} | {said} |")
    if len(bad(report)) > SHOWN:
        lines += ["", f"And {len(bad(report)) - SHOWN} more."]
    return "\n".join(lines) + "\n"


STYLE = """
:root { color-scheme: light dark; --line: #8886; --bad: #b3261e; --good: #1b6e3c; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #7bd99c; } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; }
th { text-align: left; } td { vertical-align: top; overflow-wrap: anywhere; } td.number, th.number { text-align: right; }
summary { font-size: 1.2rem; cursor: pointer; padding: .5rem 0; } .bad { color: var(--bad); } .good { color: var(--good); }
code { font-size: .9em; } .wide { overflow-x: auto; }
"""


def as_html(report, suite):
    """One page without scripts and without anything from elsewhere; the outcomes fold."""
    escape = html.escape
    cases = {case["id"]: case for case in suite["cases"]}
    name = escape(f"{report['harness']['harness']} {report['harness']['version']}")
    colour = "good" if report["conformant"] else "bad"
    used = [outcome for outcome, count in report["counts"].items() if count]
    rows = [
        f"<tr><td><code>{escape(feature)}</code></td>"
        + "".join(f'<td class="number">{c[o] or ""}</td>' for o in used) + "</tr>"
        for feature, c in report["features"].items()
    ]  # fmt: skip
    problems = "".join(f'<li class="bad">{escape(problem)}</li>' for problem in report["problems"])
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{name}: receipt conformance</title><style>{STYLE}</style></head><body><main><h1>{name}</h1>",
        f'<p class="{colour}"><strong>{escape(report["statement"])}</strong></p>',
        f"<p>Suite {escape(report['suite']['version'])} of {report['suite']['cases']} cases, sha256 ",
        f"<code>{report['suite']['sha256']}</code>, grade {report['grade']}.</p>",
        f"<ul>{problems}</ul>" if problems else "",
        '<h2>Features</h2><div class="wide"><table><thead><tr><th scope="col">Feature</th>',
        "".join(f'<th scope="col" class="number">{outcome}</th>' for outcome in used),
        "</tr></thead><tbody>" + "".join(rows) + "</tbody></table></div><h2>Cases</h2>",
    ]
    for outcome in used:
        results = [result for result in report["results"] if result["outcome"] == outcome]
        parts.append(f"<details{' open' if outcome in BAD else ''}><summary>{outcome}: {len(results)}</summary>")
        heads = "".join(f'<th scope="col">{head}</th>' for head in ("Case", "Importance", "What it is", "Result"))
        parts.append(f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>')
        for result in results:
            said = "<br>".join(escape(result[n]) for n in ("expectedBecause", "detail", "context") if n in result)
            case = cases[result["id"]]
            parts.append(f"<tr><td><code>{escape(case['id'])}</code></td><td>{escape(case['importance'])}</td>")
            parts.append(f"<td>{escape(case['description'])}</td><td>{said}</td></tr>")
        parts.append("</tbody></table></div></details>")
    return "".join([*parts, "</main></body></html>\n"])


FORMS = {"json": as_json, "junit": as_junit, "markdown": as_markdown, "html": as_html}
