// SPDX-License-Identifier: Apache-2.0
"use strict";

// Dropping a file on the page that verifies.
function prepareDrop(area) {
  const input = area.querySelector("input[type=file]");
  area.querySelector("[data-drop-hint]").hidden = false;
  for (const type of ["dragenter", "dragover"]) {
    area.addEventListener(type, (event) => {
      event.preventDefault();
      area.classList.add("over");
    });
  }
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    if (event.dataTransfer.files.length > 0) {
      input.files = event.dataTransfer.files;
      area.closest("form").requestSubmit();
    } else {
      area.querySelector("textarea").value = event.dataTransfer.getData("text");
    }
  });
}

// The proof that an entry is in the trail: RFC 6962 hashes, and the Ed25519 signature of the checkpoint (C2SP signed-note).

const bytesOfText = (text) => new TextEncoder().encode(text);
const bytesOfBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

function concatenated(...parts) {
  const all = new Uint8Array(parts.reduce((count, part) => count + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", concatenated(...parts)));
const leafHash = (entry) => sha256(Uint8Array.of(0), entry);
const nodeHash = (left, right) => sha256(Uint8Array.of(1), left, right);

// The root that a leaf and the hashes on its way lead to (RFC 9162, 2.1.3.2); null if there are too few or too many.
async function rootOf(leaf, index, size, hashes) {
  let node = index;
  let last = size - 1n;
  let hash = leaf;
  for (const sibling of hashes) {
    if (last === 0n) return null;
    if (node % 2n === 1n || node === last) {
      hash = await nodeHash(sibling, hash);
      while (node % 2n === 0n && node !== 0n) {
        node /= 2n;
        last /= 2n;
      }
    } else {
      hash = await nodeHash(hash, sibling);
    }
    node /= 2n;
    last /= 2n;
  }
  return last === 0n ? hash : null;
}

function parseProof(text) {
  const [head, body, signatures] = text.split("\n\n");
  const lines = head.split("\n");
  if (lines.shift() !== "c2sp.org/tlog-proof@v1" || !body || !signatures) throw new Error("this is no tlog-proof");
  if (lines[0].startsWith("extra ")) lines.shift();
  const index = lines.shift().match(/^index (0|[1-9][0-9]*)$/);
  const [origin, size, root] = body.split("\n");
  if (!index || !/^(0|[1-9][0-9]*)$/.test(size)) throw new Error("the proof is malformed");
  return {
    index: BigInt(index[1]), hashes: lines.map(bytesOfBase64), origin, size: BigInt(size), root,
    signed: bytesOfText(body + "\n"),
    signatures: signatures.split("\n").filter((line) => line).map((line) => {
      const [, name, value] = line.match(/^\u2014 (\S+) (\S+)$/) ?? [];
      return { name, value: value ? bytesOfBase64(value) : new Uint8Array() };
    }),
  };
}

// true or false; or a text that says why it could not be checked.
async function isSigned(proof, keyText) {
  const [, name, identifier, value] = keyText.match(/^(\S+)\+([0-9a-f]{8})\+(\S+)$/) ?? [];
  const key = value ? bytesOfBase64(value) : new Uint8Array();
  if (key.length !== 33 || key[0] !== 1) return "the public key of the trail is of a kind that this page does not know";
  const hash = (await sha256(bytesOfText(name + "\n"), key)).slice(0, 4);
  if ([...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("") !== identifier) return false;
  const found = proof.signatures.find((one) => one.name === name && base64(one.value.slice(0, 4)) === base64(hash));
  if (!found) return false;
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", key.slice(1), "Ed25519", false, ["verify"]);
  } catch {
    return "this browser cannot check Ed25519 signatures";
  }
  return crypto.subtle.verify("Ed25519", imported, found.value.slice(4), proof.signed);
}

async function checkProof(entry, text, key) {
  const checked = [];
  const open = [];
  const proof = parseProof(text);
  const root = await rootOf(await leafHash(entry), proof.index, proof.size, proof.hashes);
  const isIncluded = root !== null && base64(root) === proof.root;
  checked.push([isIncluded, isIncluded
    ? `The entry is number ${proof.index} of the ${proof.size} in the tree of the checkpoint: its SHA-256 and ${proof.hashes.length} others lead to the root ${proof.root}.`
    : `The entry does not lead to the root ${proof.root} of the checkpoint: the entry or the proof was changed.`]);
  const signed = await isSigned(proof, key);
  if (typeof signed === "string") {
    open.push(`The signature of the checkpoint: ${signed}.`);
  } else {
    checked.push([signed, signed
      ? `The checkpoint of ${proof.origin} is signed (Ed25519) by the key ${key}.`
      : `The checkpoint is not signed by the key ${key}.`]);
  }
  open.push("Whether this key is the trail's: compare it with the one that you kept.");
  open.push("Whether this page and its program are honest: they come from the server that is checked.");
  open.push("Whether the trail continues what others saw of it: 'receipt-tool audit' compares checkpoints.");
  return { isValid: checked.every(([isRight]) => isRight), isComplete: typeof signed !== "string", checked, open };
}

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

function prepareProof(section) {
  const entry = document.getElementById("proof-entry");
  const text = document.getElementById("proof-text");
  const button = document.getElementById("proof-check");
  const result = document.getElementById("proof-result");
  // Exactly as recorded: what the server wrote into the page has invisible characters replaced.
  entry.value = new TextDecoder().decode(bytesOfBase64(section.dataset.entry));
  button.hidden = false;
  async function check() {
    result.hidden = false;
    if (!globalThis.crypto?.subtle) {
      result.className = "verdict doubtful";
      result.replaceChildren(element("p", "? Not checked: browsers compute hashes on pages of https:// and of this machine alone."));
      return;
    }
    let outcome;
    try {
      outcome = await checkProof(bytesOfText(entry.value), text.value, section.dataset.key);
    } catch (error) {
      outcome = { isValid: false, isComplete: true, checked: [[false, `The proof cannot be read: ${error.message}.`]], open: [] };
    }
    const word = !outcome.isValid ? "✗ invalid" : outcome.isComplete ? "✓ valid" : "? valid as far as it was checked";
    result.className = `verdict ${!outcome.isValid ? "bad" : outcome.isComplete ? "good" : "doubtful"}`;
    result.replaceChildren(
      element("h2", word), element("p", "Checked:"),
      element("ul", "", ...outcome.checked.map(([isRight, line]) => element("li", `${isRight ? "✓" : "✗"} ${line}`))));
    if (outcome.open.length > 0) {
      result.append(element("p", "Not checked:"), element("ul", "", ...outcome.open.map((line) => element("li", line))));
    }
  }
  button.addEventListener("click", check);
  check();
}

// Copying an identifier.
function prepareCopy(button) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
  });
}

// The time zone of the browser, which only the browser knows.
function prepareZone(form) {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!name) return;
  form.elements.browser.value = name;
  form.querySelector("[data-zone-choice]").hidden = false;
  form.querySelector("[data-browser-name]").textContent = name;
}

// Tells the server the zone of a browser that is elsewhere now, for the pages that follow.
function followZone(before) {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!name || name === before) return;
  const form = new FormData();
  form.set("token", document.querySelector(".logout input[name=token]").value);
  form.set("zone", "browser");
  form.set("browser", name);
  fetch("/console/time-zone", { method: "POST", body: form, redirect: "manual" });
}

// Browsers lend the clipboard to pages of https:// and of this machine alone.
if (navigator.clipboard) for (const button of document.querySelectorAll("[data-copy]")) prepareCopy(button);
if (document.body.dataset.browserZone) followZone(document.body.dataset.browserZone);
const zoneForm = document.getElementById("time-zone");
if (zoneForm) prepareZone(zoneForm);
for (const area of document.querySelectorAll("[data-drop]")) prepareDrop(area);
const proofSection = document.getElementById("proof");
if (proofSection) prepareProof(proofSection);
