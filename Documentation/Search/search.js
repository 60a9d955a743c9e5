// SPDX-License-Identifier: Apache-2.0
// The search of the documentation's site, over the entries that scripts/docs_site.py writes into index.json:
// [kind, title, address, page, text, names], of which `names` are words that count like a title.
"use strict";
// How much a word counts in each field, and an entry of each kind.
const WEIGHTS = { title: 12, names: 4, page: 2, text: 1 };
const KINDS = { article: 1.4, section: 1, command: 1, "reason code": 1.2, setting: 0.6, option: 0.15, reference: 0.3, symbol: 0.2 };
const STOP = new Set("a an and are as at be by do does for from how i in is it my of on or that the this to use what with".split(" "));

/** The stem of a word in lower case: an ending is cut off where enough remains. */
function stem(word) {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/, (end) => (word.length - end.length < 4 ? end : "")) : word;
}

/** The words of a text, with those parts of which they are joined: `appAccountToken` is also `app`, `account`, `token`. */
function words(text) {
  const found = [];
  for (const [whole] of text.matchAll(/[\p{L}\p{N}]+(?:[-_./:']+[\p{L}\p{N}]+)*/gu)) {
    const parts = whole.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase().split(/[^\p{L}\p{N}]+/u);
    found.push(parts.map(stem));
    // `AuditTrailPostgreSQL` is also found by `PostgreSQL`.
    if (parts.length > 2) for (let place = 1; place < parts.length; place++) found.at(-1).push(parts[place - 1] + parts[place]);
    if (parts.length > 1) found.at(-1).push(stem(parts.join("")));
  }
  return found;
}

/** A title or a query for comparison: without what carries no meaning. */
const joinedWords = (text) => words(text).map((parts) => parts.at(-1)).filter((word) => !STOP.has(word)).join("");

/** Whether one added, missing, wrong or exchanged letter makes the words equal. */
function isTypo(one, other) {
  if (Math.abs(one.length - other.length) > 1 || one === other) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end++;
  const [left, right] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  return Math.max(left.length, right.length) < 2 || (left.length === 2 && left[0] === right[1] && left[1] === right[0]);
}

class Index {
  constructor(rows) {
    this.entries = rows.map(([kind, title, url, page, text, names]) => ({ kind, title, url, page, text, names }));
    // By word: the entries with their weights.
    this.weights = new Map();
    this.entries.forEach((entry, number) => {
      const own = new Map();
      for (const field in WEIGHTS) {
        const counts = new Map();
        const found = words(entry[field] ?? "");
        for (const word of found.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
        // "Back up" is found by "backup", and "Pub/Sub" by "pubsub".
        if (field !== "text") found.slice(1).forEach((word, place) => counts.set(found[place][0] + word[0], 1));
        const length = field === "text" ? 1 : Math.sqrt(Math.max(found.length, 1));
        for (const [word, count] of counts) {
          const saturated = field === "text" ? (2.2 * count) / (count + 1.2) : 1;
          own.set(word, (own.get(word) ?? 0) + (WEIGHTS[field] * saturated) / length);
        }
      }
      for (const [word, weight] of own) {
        if (!this.weights.has(word)) this.weights.set(word, []);
        this.weights.get(word).push([number, weight]);
      }
    });
  }

  /** The words of the index that a word of the query stands for, with how well they fit. */
  matches(word) {
    const found = new Map();
    if (this.weights.has(word)) found.set(word, 1);
    const others = [...this.weights.keys()].filter((other) => other !== word);
    const longer = word.length > 1 ? others.filter((other) => other.startsWith(word)) : [];
    for (const other of longer) found.set(other, 0.6 * (word.length / other.length));
    const similar = found.size === 0 && word.length > 3 ? others.filter((other) => isTypo(word, other)) : [];
    for (const other of similar) found.set(other, 0.5);
    return found;
  }

  /** The score of each entry for one word, by the entry's number. */
  scores(word) {
    const scores = new Map();
    for (const [match, quality] of this.matches(word)) {
      const entries = this.weights.get(match);
      const rarity = Math.log(1 + this.entries.length / entries.length);
      for (const [number, weight] of entries) {
        scores.set(number, Math.max(scores.get(number) ?? 0, quality * weight * rarity));
      }
    }
    return scores;
  }

  /** The best entries, best first. */
  search(query, most = 30) {
    const wanted = words(query);
    const needed = wanted.filter(([word]) => !STOP.has(word));
    const total = new Map();
    for (const parts of needed.length ? needed : wanted) {
      // The word as a whole, or all of its parts.
      const whole = this.scores(parts.at(-1));
      const each = parts.length > 1 ? parts.slice(0, -1).map((part) => this.scores(part)) : [];
      const own = new Map(whole);
      for (const number of each[0]?.keys() ?? []) {
        if (!whole.has(number) && each.every((scores) => scores.has(number))) {
          own.set(number, each.reduce((sum, scores) => sum + scores.get(number), 0) / (2 * each.length));
        }
      }
      for (const [number, score] of own) {
        const { count = 0, score: before = 0 } = total.get(number) ?? {};
        total.set(number, { count: count + 1, score: before + score });
      }
    }
    const phrase = query.trim().toLowerCase();
    const [joined, isOption] = [joinedWords(phrase), phrase.startsWith("-")];
    // What the sections of a page say counts for the page.
    const sections = new Map();
    for (const [number, { count, score }] of total) {
      const [kind, page] = [this.entries[number].kind, this.entries[number].url.split("#")[0]];
      if (kind === "section" && count === needed.length) sections.set(page, (sections.get(page) ?? 0) + score);
    }
    return [...total]
      .map(([number, { count, score }]) => {
        const entry = this.entries[number];
        const title = joinedWords(entry.title);
        const others = sections.get(entry.url.split("#")[0]) ?? 0;
        if (entry.kind === "article") score += 0.5 * others;
        if (entry.kind === "section") score += 0.15 * Math.max(others - score, 0);
        // Guides are for everybody, the documentation of a module for those who use it.
        if (/\/receiptkit\//.test(entry.url)) score *= 1.4;
        score *= KINDS[entry.kind] * (isOption && entry.kind === "option" ? 8 : 1);
        // A member of a type is one of many of its name; who wants the type writes its name.
        const isMember = entry.kind === "symbol" && /^[a-z]/.test(entry.title);
        if (title === joined && !isMember) score *= /^(?:section|symbol|option)$/.test(entry.kind) ? 1.8 : 2.5;
        if (entry.title.toLowerCase() === phrase && entry.kind === "setting") score *= 1.5;
        else if (entry.kind === "article" && title.includes(joined)) score *= 1.6;
        if (/\s/.test(phrase) && `${entry.title} ${entry.text}`.toLowerCase().includes(phrase)) score *= 1.6;
        return { entry, count, score };
      })
      .sort((one, other) => other.count - one.count || other.score - one.score)
      .slice(0, most)
      .map(({ entry }) => entry);
  }
}

/** A part of an entry's text where the query or one of its words stands: [text, isMatch] pairs. */
function snippet(entry, query, length = 190) {
  const wanted = words(query).flat().filter((word) => !STOP.has(word));
  const isWanted = (word) => words(word).flat().some((own) => wanted.some((one) => own === one || (one.length > 2 && own.startsWith(one))));
  const pieces = entry.text.split(/(\s+)/);
  const phrase = entry.text.toLowerCase().indexOf(query.trim().toLowerCase());
  const before = phrase < 0 ? pieces.findIndex(isWanted) : entry.text.slice(0, phrase).split(/(\s+)/).length - 1;
  const start = Math.max(0, before - 12);
  const shown = [];
  for (let place = start, count = 0; place < pieces.length && count < length; place++) {
    count += pieces[place].length;
    shown.push([pieces[place], isWanted(pieces[place])]);
  }
  return [[start > 0 ? "… " : "", false], ...shown, [start + shown.length < pieces.length ? " …" : "", false]];
}

const [field, list, status] = ["query", "results", "status"].map((id) => document.getElementById(id));
const begun = performance.now();
const ready = fetch("index.json").then((answer) => answer.json()).then((rows) => {
  window.searchIndex = new Index(rows);
  window.searchLoadTime = performance.now() - begun;
});
const element = (name, content, attributes = {}) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...[content].flat());
  return made;
};
const show = () => {
  const query = field.value.trim();
  history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
  document.title = query ? `${query} · ReceiptKit search` : "Search ReceiptKit";
  const found = query ? window.searchIndex.search(query) : [];
  status.textContent = !query ? "" : found.length === 1 ? "1 result" : `${found.length >= 30 ? "The first " : ""}${found.length || "No"} results`;
  list.replaceChildren(...found.map((entry) => {
    const link = element("a", entry.title, { href: `../${entry.url}` });
    const place = entry.page && entry.page !== entry.title ? ` in ${entry.page}` : "";
    const text = snippet(entry, query).map(([piece, isMatch]) => (isMatch ? element("mark", piece) : piece));
    return element("li", [element("h2", link), element("p", entry.kind + place, { className: "kind" }), element("p", text)]);
  }));
};
field.value = new URLSearchParams(location.search).get("q") ?? "";
ready.then(show, () => (status.textContent = "The index could not be loaded. The site must be served over HTTP."));
field.addEventListener("input", () => ready.then(show));
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [field, ...list.querySelectorAll("a")];
  const place = links.indexOf(document.activeElement);
  if (event.key === "/" && document.activeElement !== field) field.focus();
  else if (event.key === "Escape") field.focus();
  else if (step && place >= 0) links[Math.min(Math.max(place + step, 0), links.length - 1)].focus();
  else return;
  event.preventDefault();
});
