// SPDX-License-Identifier: Apache-2.0
"use strict";

// Prints the verdicts on receipts that it reads, for comparison with those of receipt-tool.
const { createInterface } = require("node:readline");
const { Verifier } = require(".");

const summary = ({ verdict, reason, transactions }) =>
  JSON.stringify({
    verdict,
    code: reason?.code ?? null,
    place: reason?.place ?? null,
    transactions: transactions.map((purchase) => purchase.transactionId ?? null),
  });

async function main() {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const { policy, receipts } = JSON.parse(line);
    const verifier = new Verifier(policy);
    const contents = receipts.map((receipt) => Buffer.from(receipt, "base64"));
    const alone = contents.map((receipt) => summary(verifier.verify(receipt)));
    const others = [
      verifier.verifyMany(contents),
      await verifier.verifyManyAsync(contents),
      await Promise.all(contents.map((receipt) => verifier.verifyAsync(receipt))),
    ];
    for (const verdicts of others) {
      const found = verdicts.map(summary);
      if (found.join("\n") !== alone.join("\n")) throw new Error(`verify says ${alone}, and another method ${found}`);
    }
    verifier.close();
    process.stdout.write(alone.map((each) => `${each}\n`).join(""));
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
