// SPDX-License-Identifier: Apache-2.0
"use strict";

// usage: POLICY=policy.json PORT=8080 node example/server.js
//
// Takes a receipt as the body of a POST, and answers whether it grants access.
const { readFileSync } = require("node:fs");
const { createServer } = require("node:http");
const { Verifier } = require("..");

const LONGEST = 4 << 20;
const verifier = new Verifier(readFileSync(process.env.POLICY, "utf8"));

async function body(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > LONGEST) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// The status, other headers, and the body.
async function answer(request) {
  if (request.method !== "POST") return [405, {}, { grantsAccess: false }];
  const receipt = await body(request);
  if (receipt === null) return [413, { connection: "close" }, { grantsAccess: false }];
  const verdict = await verifier.verifyAsync(receipt);
  // Genuine is not enough: a purchase may have expired, or may have been refunded.
  if (verdict.isValid) return [200, {}, { grantsAccess: verdict.grantsAccess }];
  if (verdict.verdict === "invalid") return [200, {}, { grantsAccess: false, reason: verdict.reason.code }];
  // It could not be checked. That is neither valid nor invalid: the sender keeps the receipt.
  return [503, { "retry-after": "60" }, { grantsAccess: false, reason: verdict.reason.code }];
}

const server = createServer((request, response) => {
  answer(request)
    .catch((error) => {
      console.error(error);
      return [500, {}, { grantsAccess: false }];
    })
    .then(([status, headers, content]) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(content));
    });
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log(`ready at port ${server.address().port}`));
