// SPDX-License-Identifier: Apache-2.0
//
// usage: KEY=rk_… node receipts.mjs verify URL RECEIPT-FILE
//        KEY=rk_… node receipts.mjs entitlements URL CUSTOMER
//        WEBHOOK_SECRET=whsec_… node receipts.mjs webhook PORT
//
// Verifies a receipt, asks what a customer may use, and takes webhooks. Node 18 or later, no packages. Exit code: 1 refused,
// 75 not decided now: keep the receipt, and grant nothing.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

class Undecided extends Error {}

// The answer of the server; asks again where that may help.
async function ask(url, body) {
  const headers = { authorization: `Bearer ${process.env.KEY}` };
  if (body) headers["content-type"] = "application/octet-stream";
  for (const pause of [1, 2, null]) {
    let wait = pause;
    let answer;
    try {
      // A redirect is an error: the key must go to no other server.
      answer = await fetch(url, { method: body ? "POST" : "GET", headers, body, redirect: "manual", signal: AbortSignal.timeout(10_000) });
      if (answer.ok) return await answer.json();
    } catch {
      answer = null; // no answer, or one that ended early
    }
    if (answer && answer.status !== 429 && answer.status < 500) {
      throw new Error(`${answer.status} ${(await answer.text()).slice(0, 10_000)}`);
    }
    if (wait === null) throw new Undecided("no answer");
    if (answer) wait = Math.max(wait, Number(answer.headers.get("retry-after")) || 0);
    await sleep(wait * 1000);
  }
}

async function verify(url, file) {
  const receipt = readFileSync(file);
  for (const pause of [1, 2, 0]) {
    const verdict = await ask(`${url}/v1/verify`, receipt);
    if (verdict.verdict === "valid") {
      // Genuine is not enough: a purchase may have expired, or may have been refunded.
      for (const purchase of verdict.transactions ?? []) {
        if (purchase.grantsAccess === true) console.log(`grant ${purchase.productId} × ${purchase.remainingQuantity}`);
      }
      return 0;
    }
    if (verdict.verdict === "invalid") {
      console.log(`refuse: ${verdict.reason.code}`);
      return 1;
    }
    // It could not be checked. That is neither valid nor invalid.
    if (verdict.retryable !== true) break;
    await sleep(pause * 1000);
  }
  throw new Undecided("keep the receipt");
}

async function entitlements(url, customer) {
  const answer = await ask(`${url}/v1/customers/${encodeURIComponent(customer)}/entitlements`);
  for (const access of answer.access ?? []) console.log(access.name, access.grantsAccess ? "yes" : "no");
  return 0;
}

// Whether the signature of a webhook is right (https://www.standardwebhooks.com), and not old.
function isSigned(body, headers) {
  const [id, sent, signatures] = ["id", "timestamp", "signature"].map((name) => headers[`webhook-${name}`] ?? "");
  if (!/^[0-9]{1,12}$/.test(sent) || Math.abs(Date.now() / 1000 - Number(sent)) > 300) return false;
  const key = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");
  const expected = Buffer.from("v1," + createHmac("sha256", key).update(`${id}.${sent}.`).update(body).digest("base64"));
  return signatures.split(" ").some((each) => {
    const stated = Buffer.from(each);
    return stated.length === expected.length && timingSafeEqual(stated, expected);
  });
}

const taken = new Set(); // in a database, in the commit that does the work

function webhook(port) {
  const server = createServer((request, response) => {
    const parts = [];
    let length = 0;
    request.on("data", (part) => {
      length += part.length;
      if (length > 1 << 20) request.destroy();
      else parts.push(part);
    });
    request.on("end", () => {
      const body = Buffer.concat(parts);
      if (request.method !== "POST" || !isSigned(body, request.headers)) return response.writeHead(400).end();
      // The same change may come again: its identifier stays.
      if (!taken.has(request.headers["webhook-id"])) {
        const change = JSON.parse(body);
        console.log(change.type, change.data.customer);
        taken.add(request.headers["webhook-id"]);
      }
      response.writeHead(204).end();
    });
  });
  return new Promise(() => server.listen(Number(port), "127.0.0.1", () => console.log(`ready at port ${port}`)));
}

const [name, ...values] = process.argv.slice(2);
const command = { verify, entitlements, webhook }[name];
if (!command || values.length === 0) {
  console.error("usage: receipts.mjs verify URL RECEIPT-FILE | entitlements URL CUSTOMER | webhook PORT");
  process.exit(64);
}
try {
  process.exitCode = await command(...values);
} catch (error) {
  console.log(`${error instanceof Undecided ? "undecided" : "failed"}: ${error.message}`);
  process.exitCode = error instanceof Undecided ? 75 : 1;
}
