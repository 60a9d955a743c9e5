// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import CReceiptKit
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptKitLibrary
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

@Suite("libreceiptkit: its functions")
struct LibraryTests {
  let samples: Samples
  init() throws { samples = try Samples() }

  @Test("a receipt has the verdict of the Swift library, with its standing at the policy's instant")
  func verdicts() throws {
    let (verifier, created) = Library.createVerifier(samples.policy(#","time": "2026-01-02T03:04:05Z""#))
    #expect(created == Outcome(status: 0, text: ""))
    var policy = VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.sandbox])
    let instant = try Timestamp(iso8601: "2026-01-02T03:04:05Z")
    policy.timeRule = .at(instant)
    let swift = ReceiptVerifier(trust: samples.authority.trustAnchors, policy: policy)
    for (receipt, status) in [
      (samples.receipt, RECEIPTKIT_VALID), (samples.forged, RECEIPTKIT_INVALID), ([], 1),
    ] {
      var object = JSONWriter(type: "verdict")
      swift.verify(receipt).write(to: &object, at: instant)
      object.endObject()
      let outcome = Library.verify(receipt, verifier)
      #expect(outcome.status == Int32(status))
      #expect(outcome.text == String(decoding: object.bytes, as: UTF8.self))
    }
    #expect(receiptkit_handle_free(verifier) == 0)
  }

  @Test(
    "a batch has the verdict on each receipt, in order, however many there are",
    arguments: [0, 1, 63, 64, 65, 300])
  func batch(count: Int) throws {
    let (verifier, _) = Library.createVerifier(samples.policy(#","time": "2026-01-02T03:04:05Z""#))
    defer { _ = receiptkit_handle_free(verifier) }
    let receipts = (0..<count).map { $0 % 3 == 1 ? samples.forged : $0 % 7 == 2 ? [] : samples.receipt }
    let (outcome, statuses) = Library.verify(batch: receipts, verifier)
    #expect(outcome.status == 0)
    let single = receipts.map { Library.verify($0, verifier) }
    #expect(outcome.text == single.map { $0.text + "\n" }.joined())
    #expect(statuses.map(Int32.init) == single.map(\.status))
  }

  @Test("a payload is that of a valid receipt alone")
  func payload() throws {
    let (verifier, _) = Library.createVerifier(samples.policy())
    defer { _ = receiptkit_handle_free(verifier) }
    let payload = Library.payload(samples.receipt, verifier)
    #expect(payload.status == 0)
    #expect(payload.json?["transactionId"]?.string == "1")
    let refused = Library.payload(samples.forged, verifier)
    #expect(refused.status == 1)
    #expect(refused.json?["type"]?.string == "verdict")
    #expect(refused.json?["reason"]?["code"]?.string == "signature-mismatch")
  }

  @Test("an inspection verifies nothing, and hides a customer's values if it is to")
  func inspection() {
    let shown = Library.inspect(samples.forged)
    #expect(shown.status == 0 && shown.json?["verified"] == .bool(false))
    #expect(shown.text.contains("gems"))
    let hidden = Library.inspect(samples.forged, UInt32(RECEIPTKIT_INSPECT_REDACTED))
    #expect(hidden.status == 0 && !hidden.text.contains("gems"))
    let none = Library.inspect(Array("no receipt".utf8))
    #expect(none.status == 1 && none.code != nil && none.place != nil)
    #expect(Library.inspect([], 8).status == 64)
  }

  @Test("what the library signs, it verifies; a wrong request names its member")
  func signing() throws {
    let chain = samples.authority.identity.chain.map { Samples.quoted($0.pem) }.joined(separator: ",")
    let key = Samples.quoted(TestKeys.signerPEM)
    let (signer, created) = Library.createSigner(#"{"privateKey": \#(key), "certificates": [\#(chain)]}"#)
    #expect(created == Outcome(status: 0, text: ""))
    let request = #"""
      {"format": "signed-transaction", "receipt": {"bundleId": "com.example.app", "transactionId": "1",
       "originalTransactionId": "1", "productId": "gems", "quantity": 1, "purchaseDate": 1759302550000,
       "environment": "Sandbox"}}
      """#
    let signed = Library.sign(request, signer)
    #expect(signed.status == 0)
    let receipt = try #require(signed.json?["receipt"]?.string)
    let (verifier, _) = Library.createVerifier(samples.policy())
    #expect(Library.verify(Array(receipt.utf8), verifier).status == 0)
    for (request, place) in [
      (#"{"format": "x", "receipt": {}}"#, "$.format"), (#"{"format": "app-receipt"}"#, "$.receipt"),
      (#"{"format": "signed-transaction", "receipt": {}, "pss": true}"#, "$.pss"),
      (#"{"format": "signed-transaction", "receipt": {}, "other": 1}"#, "$.other"),
    ] {
      let refused = Library.sign(request, signer)
      #expect(refused.status == 64 && refused.place == place, "\(refused)")
    }
    // Each function takes handles of its own kind alone.
    #expect(Library.sign(request, verifier).status == 64)
    #expect(Library.verify(samples.receipt, signer).status == 64)
    #expect(receiptkit_handle_free(signer) == 0 && receiptkit_handle_free(verifier) == 0)
  }

  @Test(
    "a policy that cannot be meant as it stands is refused, with the place",
    arguments: [
      ("", ""), ("{", ""), ("[]", "$"), (#"{"bundleIds": []}"#, "$.bundleIds"), ("{}", "$.bundleIds"),
      (#"{"bundleIds": ["a"], "anyBundleId": true}"#, "$.anyBundleId"),
      (#"{"bundleIds": ["a"], "bundleID": 1}"#, "$.bundleID"),
      (#"{"bundleIds": ["a"], "environments": ["Production"]}"#, "$.environments[0]"),
      (#"{"bundleIds": ["a"], "kinds": ["x"]}"#, "$.kinds[0]"),
      (#"{"bundleIds": ["a"], "algorithms": ["ES256", "none"]}"#, "$.algorithms[1]"),
      (#"{"bundleIds": ["a"], "trust": ["apple", "x"]}"#, "$.trust[1]"),
      (#"{"bundleIds": ["a"], "maximumAge": -1}"#, "$.maximumAge"),
      (#"{"bundleIds": ["a"], "time": "yesterday"}"#, "$.time"),
      (#"{"bundleIds": ["a"], "deviceId": "xyz"}"#, "$.deviceId"),
      (#"{"bundleIds": ["a"], "playKeys": [{"package": "a", "key": "x"}]}"#, "$.playKeys[0].key"),
      (
        #"{"bundleIds": ["a"], "markers": [{"leaf": "1.2", "intermediate": "1"}]}"#,
        "$.markers[0].intermediate"
      ),
      (#"{"bundleIds": ["a"], "maximumByteCount": 0}"#, "$.maximumByteCount"),
      (#"{"bundleIds": ["a"], "unstatedEnvironment": "ignore"}"#, "$.unstatedEnvironment"),
    ])
  func wrongPolicies(policy: String, place: String) {
    let (handle, outcome) = Library.createVerifier(policy)
    #expect(handle == 0)
    #expect(outcome.status >= 64, "\(outcome)")
    #expect(outcome.json?["type"]?.string == "error")
    if !place.isEmpty { #expect(outcome.place == place, "\(outcome)") }
    #expect(outcome.json?["exitCode"]?.int64 == Int64(outcome.status))
  }

  @Test("a proof is checked with a key; one of another log proves nothing, and a wrong request says where")
  func proofs() throws {
    for (request, place) in [
      ("{}", "$.key"), (#"{"key": "x"}"#, "$.key"), (#"{"policy": "x"}"#, "$.policy"),
      (#"{"key": "a", "policy": "b"}"#, "$.key"),
      (#"{"policy": "b", "replacedKeys": "c"}"#, "$.replacedKeys"),
    ] {
      let outcome = Library.check(proof: Array("x".utf8), request)
      #expect(outcome.status >= 64 && outcome.place == place, "\(outcome)")
    }
    let key = #"{"key": "log.example/1+5e4ec1a4+AUzjxMbPRTOPtkmJgVTIPjRzyGTTVOLcJm8TDMcnxpaC"}"#
    let outcome = Library.check(proof: Array("no proof".utf8), key)
    #expect(outcome.status == 1 || outcome.status == 66, "\(outcome)")
  }
}
