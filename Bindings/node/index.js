// SPDX-License-Identifier: Apache-2.0
"use strict";

const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { isUint8Array } = require("node:util").types;

const addon = require("./receiptkit.node");

const VALID = 0;
const INVALID = 1;
const UNDETERMINED = 2;
const USAGE = 64;
const INTERNAL = 70;
const WORDS = new Map([
  [VALID, "valid"],
  [INVALID, "invalid"],
  [UNDETERMINED, "undetermined"],
]);
// The numbers that src/addon.c has.
const VERIFY = 0;
const PAYLOAD = 1;
const BATCH = 2;
const SIGN = 3;
const INSPECT = 4;
const CHECK_PROOF = 5;
const VERSION = 6;

class ReceiptKitError extends Error {
  constructor(message, code, status, place = null) {
    super(place === null ? message : `${message} (${place})`);
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.place = place;
  }
}

class ClosedError extends ReceiptKitError {
  constructor() {
    super("The verifier or signer is closed.", "usage", USAGE);
  }
}

class NotValidError extends ReceiptKitError {
  constructor(verdict, status) {
    super(verdict.reason.message, verdict.reason.code, status, verdict.reason.place ?? null);
    this.verdict = verdict;
  }
}

const internal = (message) => new ReceiptKitError(message, "internal-fault", INTERNAL);

function frozen(value) {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

function members(json) {
  let found;
  try {
    found = JSON.parse(json);
  } catch {
    throw internal("What the library returned cannot be read.");
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw internal("What the library returned is no object.");
  return frozen(found);
}

function failure(status, text) {
  const { code, message, place } = members(text);
  return code ? new ReceiptKitError(message, code, status, place) : internal(`The library returned the status ${status} without an error.`);
}

// The text of a result that has no other outcome than success.
function textOf([status, text]) {
  if (status !== VALID) throw failure(status, text);
  return text;
}

let isLoaded = false;

function load(path) {
  try {
    addon.load(path);
  } catch (error) {
    if (error instanceof TypeError) throw error;
    throw new ReceiptKitError(`The library cannot be loaded: ${error.message}`, "unavailable", INTERNAL);
  }
  isLoaded = true;
}

function loaded() {
  if (isLoaded) return addon;
  const beside = join(__dirname, "libreceiptkit.so");
  load(process.env.RECEIPTKIT_LIBRARY || (existsSync(beside) ? beside : "libreceiptkit.so.1"));
  return addon;
}

function bytes(value, name = "receipt") {
  if (typeof value === "string") return Buffer.from(value);
  if (isUint8Array(value)) return value;
  throw new TypeError(`${name} must be a Uint8Array or a string`);
}

function string(value, name) {
  if (typeof value !== "string") throw new TypeError(`${name} must be a string`);
  return value;
}

// The JSON of an object, or a text that is JSON already.
function json(value, name) {
  if (typeof value === "string") return value;
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : undefined;
  if (text === undefined) throw new TypeError(`${name} must be an object or JSON`);
  return text;
}

class Verdict {
  #members;

  constructor(status, text) {
    this.#members = members(text);
    const word = WORDS.get(status);
    if (word === undefined || this.#members.verdict !== word) throw internal(`A verdict contradicts the status ${status}.`);
    this.json = text;
    this.verdict = word;
    Object.freeze(this);
  }

  get isValid() {
    return this.verdict === "valid";
  }

  get grantsAccess() {
    return this.isValid && this.#members.grantsAccess === true;
  }

  get reason() {
    return this.#members.reason ?? null;
  }

  get retryable() {
    return this.#members.retryable === true;
  }

  get format() {
    return this.#members.format ?? null;
  }

  get environment() {
    return this.#members.environment ?? null;
  }

  get bundleId() {
    return this.#members.bundleId ?? null;
  }

  get signedDate() {
    return this.#members.signedDate ?? null;
  }

  get standing() {
    return this.#members.standing ?? null;
  }

  get transactions() {
    return this.#members.transactions ?? [];
  }

  toJSON() {
    return this.#members;
  }
}

class ProofCheck {
  #members;

  constructor(status, text) {
    this.#members = members(text);
    this.isProven = status === VALID;
    if (this.#members.proven !== this.isProven) throw internal(`The answer about a proof contradicts the status ${status}.`);
    this.message = this.#members.message ?? null;
    this.json = text;
    Object.freeze(this);
  }

  toJSON() {
    return this.#members;
  }
}

// A verifier or signer of the library, which is freed with its object.
class Handle {
  #object;
  #isClosed = false;

  constructor(isSigner, document, name) {
    const made = loaded().create(isSigner, json(document, name));
    if (Array.isArray(made)) throw failure(...made);
    this.#object = made;
  }

  close() {
    this.#isClosed = true;
    addon.close(this.#object);
  }

  get isClosed() {
    return this.#isClosed;
  }

  _invoke(operation, isAsync, first, second) {
    if (this.#isClosed) throw new ClosedError();
    return addon.invoke(operation, isAsync, this.#object, first, second);
  }

  _checked(result) {
    const [status, text] = result;
    if (status < USAGE) return result;
    throw this.#isClosed && status === USAGE ? new ClosedError() : failure(status, text);
  }
}

function payloadOf([status, text]) {
  if (status !== VALID) throw new NotValidError(new Verdict(status, text), status);
  return text;
}

// All receipts in one piece, and where each begins and ends.
function joined(receipts) {
  // A text and bytes can be iterated as well, and are one receipt.
  if (typeof receipts !== "object" || receipts === null || isUint8Array(receipts) || typeof receipts[Symbol.iterator] !== "function") {
    throw new TypeError("receipts must be an array, or something else to iterate");
  }
  const pieces = Array.from(receipts, (receipt) => bytes(receipt));
  const offsets = new BigUint64Array(pieces.length + 1);
  pieces.forEach((piece, index) => (offsets[index + 1] = offsets[index] + BigInt(piece.length)));
  return [Buffer.concat(pieces), offsets];
}

function verdictsOf([, text, statuses]) {
  const lines = text === "" ? [] : text.slice(0, -1).split("\n");
  if (lines.length !== statuses.length) throw internal(`The library returned ${lines.length} verdicts on ${statuses.length} receipts.`);
  return lines.map((line, index) => new Verdict(statuses[index], line));
}

class Verifier extends Handle {
  constructor(policy) {
    super(false, policy, "policy");
  }

  verify(receipt) {
    return new Verdict(...this._checked(this._invoke(VERIFY, false, bytes(receipt))));
  }

  async verifyAsync(receipt) {
    return new Verdict(...this._checked(await this._invoke(VERIFY, true, bytes(receipt))));
  }

  verifyMany(receipts) {
    return verdictsOf(this._checked(this._invoke(BATCH, false, ...joined(receipts))));
  }

  async verifyManyAsync(receipts) {
    return verdictsOf(this._checked(await this._invoke(BATCH, true, ...joined(receipts))));
  }

  payload(receipt) {
    return payloadOf(this._checked(this._invoke(PAYLOAD, false, bytes(receipt))));
  }

  async payloadAsync(receipt) {
    return payloadOf(this._checked(await this._invoke(PAYLOAD, true, bytes(receipt))));
  }
}

class Signer extends Handle {
  constructor(identity) {
    super(true, identity, "identity");
  }

  sign(format, receipt, { base64 = false, pss = false } = {}) {
    const text = json(receipt, "receipt");
    try {
      // A text that is not one JSON value could add members to the request.
      JSON.parse(text);
    } catch {
      throw new ReceiptKitError("The receipt is no JSON.", "usage", USAGE, "$.receipt");
    }
    const others = JSON.stringify({ format: string(format, "format"), base64: Boolean(base64), pss: Boolean(pss) });
    const signed = members(textOf(this._checked(this._invoke(SIGN, false, `${others.slice(0, -1)},"receipt":${text}}`))));
    return Object.freeze({ format: signed.format, signedDate: signed.signedDate ?? null, receipt: signed.receipt });
  }
}

function inspectUnverified(receipt, { redact = false } = {}) {
  return members(textOf(loaded().invoke(INSPECT, false, null, bytes(receipt), redact ? 1 : 0)));
}

function checkProof(proof, { key, policy, replacedKeys, receipt } = {}) {
  const request = { key, policy, replacedKeys };
  Object.keys(request).forEach((name) => request[name] === undefined || string(request[name], name));
  if (receipt !== undefined) request.receipt = Buffer.from(bytes(receipt)).toString("base64");
  const [status, text] = loaded().invoke(CHECK_PROOF, false, null, bytes(proof, "proof"), JSON.stringify(request));
  if (status !== VALID && status !== INVALID) throw failure(status, text);
  return new ProofCheck(status, text);
}

function version() {
  return members(textOf(loaded().invoke(VERSION, false, null)));
}

module.exports = { Verifier, Signer, Verdict, ProofCheck, ReceiptKitError, ClosedError, NotValidError, inspectUnverified, checkProof, version, load };
