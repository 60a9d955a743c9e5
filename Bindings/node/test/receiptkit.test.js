// SPDX-License-Identifier: Apache-2.0
"use strict";

const assert = require("node:assert");
const { execFileSync, spawnSync } = require("node:child_process");
const crypto = require("node:crypto");
const { readFileSync } = require("node:fs");
const https = require("node:https");
const { join } = require("node:path");
const { test } = require("node:test");
const { Worker, isMainThread } = require("node:worker_threads");
const vm = require("node:vm");

const kit = require("..");
const addon = require("../receiptkit.node");

// The folder of the repository; the addon may be built elsewhere.
const ROOT = process.env.RECEIPTKIT_ROOT ?? join(__dirname, "../../..");
const read = (path, encoding) => readFileSync(join(ROOT, "TestVectors", path), encoding);

// Accepts the vectors, at an instant at which their subscription is active.
const policy = {
  bundleIds: ["com.example.app"],
  environments: ["production", "sandbox"],
  time: "2025-10-15T00:00:00Z",
  trust: [read("certificates/es256-root.pem", "utf8")],
};
const valid = read("signed-transaction/valid.jws");
const undetermined = read("google-play-purchase/key-missing.json");
const made = () => new kit.Verifier(policy);

test("a valid receipt", async () => {
  for (const verdict of [made().verify(valid), await made().verifyAsync(valid), made().verify(valid.toString()), made().verify(new Uint8Array(valid))]) {
    assert.ok(verdict.isValid === true && verdict.grantsAccess === true && verdict.standing === "active" && verdict.reason === null, verdict.json);
    assert.strictEqual(verdict.transactions[0].transactionId, "2000000001");
    assert.deepStrictEqual(JSON.parse(JSON.stringify(verdict)), JSON.parse(verdict.json));
    assert.throws(() => (verdict.verdict = "invalid"), TypeError);
    assert.throws(() => (verdict.transactions[0].productId = "x"), TypeError);
    assert.throws(() => (verdict.isValid = true), TypeError);
  }
});

test("what is not valid grants nothing", async () => {
  const verifier = made();
  for (const receipt of ["", "\0", Buffer.from([0xff, 0xfe]), "\ud800", Buffer.alloc(17 << 20), `${valid}A`]) {
    for (const verdict of [verifier.verify(receipt), await verifier.verifyAsync(receipt), ...(await verifier.verifyManyAsync([receipt]))]) {
      assert.ok(verdict.verdict === "invalid" && verdict.isValid === false && verdict.grantsAccess === false && verdict.reason.code, verdict.json);
    }
  }
  const verdict = verifier.verify(undetermined);
  assert.ok(verdict.verdict === "undetermined" && !verdict.isValid && !verdict.grantsAccess, verdict.json);
});

test("a verdict contradicts no status", () => {
  for (const wrong of [[0, '{"verdict":"invalid"}'], [1, '{"verdict":"valid"}'], [3, '{"verdict":"valid"}'], [255, "{}"], [0, "{}"], [0, "[]"], [0, "null"], [0, ""]]) {
    assert.throws(() => new kit.Verdict(...wrong), kit.ReceiptKitError);
  }
});

test("many receipts", async () => {
  const verifier = made();
  const receipts = [valid, "", "x", valid, new Uint8Array()];
  for (const verdicts of [verifier.verifyMany(receipts), await verifier.verifyManyAsync(receipts), verifier.verifyMany(receipts.values())]) {
    assert.deepStrictEqual(verdicts.map((verdict) => verdict.isValid), [true, false, false, true, false]);
  }
  assert.deepStrictEqual(verifier.verifyMany([]), []);
  assert.deepStrictEqual(await verifier.verifyManyAsync([]), []);
  assert.throws(() => verifier.verifyMany([valid, null]), TypeError);
  for (const wrong of [7, "", "x", null, undefined, {}, new Uint8Array(), { length: 1, 0: valid }]) assert.throws(() => verifier.verifyMany(wrong), TypeError);
  await assert.rejects(verifier.verifyManyAsync([{}]), TypeError);
});

test("the payload", async () => {
  const verifier = made();
  assert.strictEqual(JSON.parse(verifier.payload(valid)).transactionId, "2000000001");
  assert.strictEqual(await verifier.payloadAsync(valid), verifier.payload(valid));
  const isRefused = (error) => error instanceof kit.NotValidError && error.verdict.verdict === "invalid" && error.status === 1;
  assert.throws(() => verifier.payload("x"), isRefused);
  await assert.rejects(verifier.payloadAsync("x"), isRefused);
  assert.throws(() => verifier.payload(undetermined), { status: 2 });
});

test("a wrong policy", () => {
  const wrong = { unexpected: { ...policy, bundleIDs: [] }, truncated: "{", "malformed-certificate": { bundleIds: ["a"], trust: ["x"] } };
  for (const [code, each] of Object.entries(wrong)) {
    assert.throws(() => new kit.Verifier(each), (error) => error instanceof kit.ReceiptKitError && error.code === code && error.status >= 64);
  }
  assert.throws(() => new kit.Verifier({ ...policy, x: 1 }), { place: "$.x" });
  for (const each of ["", "null", {}, [], "\0"]) assert.throws(() => new kit.Verifier(each), kit.ReceiptKitError);
  for (const each of [undefined, null, 7, () => 0, Symbol("x")]) assert.throws(() => new kit.Verifier(each), TypeError);
});

test("wrong types", async () => {
  const verifier = made();
  for (const wrong of [undefined, null, 7, 7n, {}, [], () => 0, new ArrayBuffer(8), new Uint16Array(4), new DataView(new ArrayBuffer(8)), new Proxy(valid, {})]) {
    assert.throws(() => verifier.verify(wrong), TypeError);
    assert.throws(() => verifier.payload(wrong), TypeError);
    assert.throws(() => kit.inspectUnverified(wrong), TypeError);
    assert.throws(() => kit.checkProof(wrong, { key: "x" }), TypeError);
    await assert.rejects(verifier.verifyAsync(wrong), TypeError);
  }
  assert.throws(() => kit.load(7), TypeError);
  assert.throws(() => kit.Verifier.prototype.verify.call({}, valid), TypeError);
});

test("the addon checks every argument", () => {
  const object = addon.create(false, JSON.stringify(policy));
  const values = [undefined, null, true, -1, 1e9, NaN, 0.5, 7n, "x", "\0", Symbol("x"), {}, [], () => 0, new Proxy({}, {}), new Proxy(object, {}), Object.create(object), valid, new Uint16Array(2), new BigUint64Array(0), new BigUint64Array([0n, 1n << 40n]), new BigUint64Array([5n, 1n]), new BigUint64Array([1n << 63n, 0n])];
  let count = 0;
  const tried = (call) => {
    try {
      const result = call();
      assert.ok(result === undefined || typeof result === "object" || typeof result === "number");
      result?.catch?.(() => 0);
    } catch (error) {
      assert.ok(error instanceof Error);
    }
    count += 1;
  };
  for (const first of values) {
    tried(() => addon.close(first));
    for (const second of values) tried(() => addon.create(first, second));
    for (let operation = 0; operation < 9; operation += 1) {
      for (const second of [...values, object]) {
        tried(() => addon.invoke(operation, false, object, first, second));
        tried(() => addon.invoke(operation, false, second, valid, first));
        tried(() => addon.invoke(operation, count % 16 === 0, second, first, second));
        tried(() => addon.invoke(first, second, object));
      }
    }
  }
  tried(() => addon.load());
  tried(() => addon.load("\0"));
  tried(() => addon.create());
  tried(() => addon.close());
  tried(() => addon.invoke());
  assert.ok(count > 1000);
  assert.deepStrictEqual(JSON.parse(addon.invoke(0, false, object, valid)[1]).verdict, "valid");
});

test("a closed verifier", async () => {
  const verifier = made();
  const pending = Array.from({ length: 20 }, () => verifier.verifyAsync(valid));
  verifier.close();
  verifier.close();
  assert.ok(verifier.isClosed);
  assert.throws(() => verifier.verify(valid), kit.ClosedError);
  assert.throws(() => verifier.verifyMany([]), kit.ClosedError);
  assert.throws(() => verifier.payload(valid), kit.ClosedError);
  await assert.rejects(verifier.verifyAsync(valid), kit.ClosedError);
  for (const { value, reason } of await Promise.allSettled(pending)) assert.ok(value ? value.isValid : reason instanceof kit.ClosedError);
});

test("the receipt may change while it is verified", async () => {
  const verifier = made();
  const changed = new Uint8Array(valid);
  const pending = verifier.verifyAsync(changed);
  changed.fill(0);
  structuredClone(changed.buffer, { transfer: [changed.buffer] });
  assert.ok((await pending).isValid);
  assert.strictEqual(verifier.verify(changed).isValid, false);
  // A view of memory that threads share.
  const shared = new Uint8Array(new SharedArrayBuffer(valid.length));
  shared.set(valid);
  assert.ok(verifier.verify(shared).isValid);
  // Of another realm, as in test runners.
  assert.strictEqual(verifier.verify(vm.runInNewContext("new Uint8Array(3)")).isValid, false);
});

test("garbage is collected while calls run", () => {
  const script = `
    const kit = require(${JSON.stringify(join(__dirname, ".."))});
    const policy = ${JSON.stringify(policy)};
    const receipt = Buffer.from(${JSON.stringify(valid.toString())});
    // What is in it is as long.
    const large = JSON.stringify({ data: JSON.stringify({ packageName: "x".repeat(1_000_000) }), signature: "AAAA" });
    const addon = require(${JSON.stringify(join(__dirname, "../receiptkit.node"))});
    // While its call waits for a thread, nothing refers to the verifier but the addon.
    const wait = async () => {
      const verifier = new kit.Verifier(policy);
      const others = Array.from({ length: 16 }, () => verifier.verifyManyAsync(Array(50).fill(receipt)));
      const pending = (() => addon.invoke(0, true, addon.create(false, JSON.stringify(policy)), receipt))();
      for (let index = 0; index < 5; index += 1) {
        gc();
        await new Promise(setImmediate);
      }
      if ((await pending)[0] !== 0) throw new Error("it was freed");
      await Promise.all(others);
    };
    const run = async (count) => {
      for (let index = 0; index < count; index += 1) {
        const pending = [new kit.Verifier(policy).verifyAsync(Buffer.from(receipt)), new kit.Verifier(policy).verifyManyAsync([receipt, "x"])];
        gc();
        const [verdict, [first, second]] = await Promise.all(pending);
        if (!verdict.isValid || !first.isValid || second.isValid) throw new Error("not as expected");
        try { new kit.Verifier("{"); } catch {}
        kit.inspectUnverified(large);
      }
    };
    (async () => {
      await wait();
      await run(100);
      gc();
      const before = process.memoryUsage.rss();
      await run(120);
      gc();
      const grown = process.memoryUsage.rss() - before;
      if (grown > 64 << 20) throw new Error(grown + " bytes more");
      console.log("done");
    })();`;
  assert.strictEqual(execFileSync(process.execPath, ["--expose-gc", "-e", script], { encoding: "utf8", timeout: 120_000 }), "done\n");
});

test("workers, which end while they verify", async () => {
  const script = `
    const { parentPort, workerData } = require("node:worker_threads");
    const kit = require(workerData.path);
    const verifier = new kit.Verifier(workerData.policy);
    if (!verifier.verify(workerData.valid).isValid) throw new Error("not valid");
    for (let index = 0; index < 50; index += 1) verifier.verifyManyAsync(Array(20).fill(workerData.valid));
    if (workerData.waits) setInterval(() => 0, 1000);
    verifier.verifyAsync(workerData.valid).then((verdict) => parentPort.postMessage(verdict.isValid));
    parentPort.postMessage("begun");`;
  const verifier = made();
  for (let round = 0; round < 4; round += 1) {
    const workers = Array.from({ length: 4 }, () => new Worker(script, { eval: true, workerData: { path: join(__dirname, ".."), policy, valid, waits: round % 2 === 0 } }));
    const ends = workers.map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
    await Promise.all(workers.map((worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))));
    assert.ok(verifier.verify(valid).isValid);
    if (round % 2 === 0) await Promise.all(workers.map((worker) => worker.terminate()));
    await Promise.all(ends);
  }
  assert.ok(verifier.verify(valid).isValid && isMainThread);
});

test("an end of the process while calls run", () => {
  const script = `
    const kit = require(${JSON.stringify(join(__dirname, ".."))});
    const verifier = new kit.Verifier(${JSON.stringify(policy)});
    for (let index = 0; index < 20; index += 1) verifier.verifyManyAsync(Array(50).fill(${JSON.stringify(valid.toString())}));
    setTimeout(() => process.exit(7), 5);`;
  const done = spawnSync(process.execPath, ["-e", script], { timeout: 60_000 });
  assert.deepStrictEqual([done.status, done.signal, String(done.stderr)], [7, null, ""]);
});

test("an inspection", () => {
  const content = kit.inspectUnverified(valid);
  assert.ok(content.verified === false && JSON.stringify(content).includes("7e3fb204"));
  assert.ok(!JSON.stringify(kit.inspectUnverified(valid, { redact: true })).includes("7e3fb204"));
  assert.throws(() => kit.inspectUnverified(""), { status: 1 });
});

test("crypto signs before and after", () => {
  for (let time = 0; time < 2; time += 1) {
    const { privateKey, publicKey } = crypto.generateKeyPairSync("rsa", { modulusLength: 2048 });
    assert.ok(crypto.verify("sha256", Buffer.from("x"), publicKey, crypto.sign("sha256", Buffer.from("x"), privateKey)));
    const signer = new kit.Signer({ privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) });
    const purchase = { orderId: "GPA.1", packageName: "com.example.app", productId: "gems", purchaseTime: 1759302550000, purchaseState: 0, purchaseToken: "t" };
    const signed = signer.sign("google-play-purchase", purchase);
    const playKeys = [{ package: "com.example.app", key: publicKey.export({ type: "spki", format: "pem" }) }];
    const verdict = new kit.Verifier({ bundleIds: ["com.example.app"], unstatedEnvironment: "accept", playKeys }).verify(signed.receipt);
    assert.ok(verdict.isValid && verdict.transactions[0].productId === "gems", verdict.json);
    assert.throws(() => signer.sign("nonsense", {}), { place: "$.format" });
    for (const wrong of ["{", "", '{},"pss":true', "{}}"]) assert.throws(() => signer.sign("google-play-purchase", wrong), { place: "$.receipt" });
    assert.throws(() => signer.sign("google-play-purchase", null), TypeError);
    signer.close();
    assert.throws(() => signer.sign("google-play-purchase", purchase), kit.ClosedError);
  }
  assert.throws(() => new kit.Signer({ privateKey: "no key" }), kit.ReceiptKitError);
});

test("TLS before and after", async () => {
  // Node cannot make a certificate: openssl does.
  const made = spawnSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "-", "-out", "-", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "1"], { encoding: "utf8" });
  assert.strictEqual(made.status, 0, made.stderr);
  const pem = made.stdout;
  const server = https.createServer({ key: pem, cert: pem }, (_, response) => response.end("ok"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  for (let time = 0; time < 2; time += 1) {
    const content = await new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: server.address().port, servername: "localhost", ca: pem, agent: false };
      https.get(options, (response) => response.on("data", (part) => resolve(String(part)))).on("error", reject);
    });
    assert.strictEqual(content, "ok");
    assert.ok(new kit.Verifier(policy).verify(valid).isValid);
  }
  server.close();
});

// A proof and its key are given by Tests/Interoperability.
test("proofs", (context) => {
  const key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
  const check = kit.checkProof("no proof", { key });
  assert.ok(check.isProven === false && check.message);
  for (const wrong of [undefined, {}, { key: "x" }, { policy: "x" }, { key, policy: "x" }]) assert.throws(() => kit.checkProof("", wrong), kit.ReceiptKitError);
  assert.throws(() => kit.checkProof("", { key: 7 }), TypeError);
  if (!process.env.RECEIPTKIT_TEST_PROOF) return context.skip("RECEIPTKIT_TEST_PROOF is not set");
  const proof = readFileSync(process.env.RECEIPTKIT_TEST_PROOF);
  const trusted = readFileSync(process.env.RECEIPTKIT_TEST_PROOF_KEY, "utf8").trim();
  assert.strictEqual(kit.checkProof(proof, { key: trusted }).isProven, true);
  assert.strictEqual(kit.checkProof(proof, { key: trusted, receipt: "another" }).isProven, false);
});

test("the version", () => assert.strictEqual(typeof kit.version().libcrypto, "string"));

test("a library that is none", () => {
  for (const path of ["/nowhere/libreceiptkit.so", __filename, "libm.so.6"]) assert.throws(() => kit.load(path), kit.ReceiptKitError);
  assert.ok(made().verify(valid).isValid);
});

test("a module of ECMAScript imports it", () => {
  const script = `import { Verifier, version } from ${JSON.stringify(join(__dirname, "../index.js"))}; console.log(typeof Verifier, typeof version);`;
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  assert.strictEqual(done.stdout, "function function\n", done.stderr);
});
