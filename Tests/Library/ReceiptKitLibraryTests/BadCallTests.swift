// SPDX-License-Identifier: Apache-2.0

import CReceiptKit
import ReceiptCodec
import ReceiptKitLibrary
import Testing

@Suite("libreceiptkit: calls that are wrong")
struct BadCallTests {
  let samples: Samples
  init() throws { samples = try Samples() }

  @Test("NULL is an error where a value is needed, and an empty value where its length is 0")
  func null() {
    let (verifier, _) = Library.createVerifier(samples.policy())
    defer { _ = receiptkit_handle_free(verifier) }
    var handle: UInt64 = 0
    var offsets: [UInt64] = [0, 1]
    let one: [UInt8] = [1]
    unsafe Self.expectUsage { unsafe receiptkit_verify(verifier, nil, 1, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_payload(verifier, nil, 1, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_inspect(nil, 1, 0, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_verifier_create(nil, 1, &handle, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_verifier_create("{}", 2, nil, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_signer_create(nil, 1, &handle, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_signer_create("{}", 2, nil, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_sign(verifier, nil, 1, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_check_proof(nil, 1, "{}", 2, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_check_proof(one, 1, nil, 1, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_verify_batch(verifier, nil, offsets, 1, nil, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_verify_batch(verifier, one, nil, 1, nil, $0) }
    offsets = [1, 0]
    unsafe Self.expectUsage { unsafe receiptkit_verify_batch(verifier, one, offsets, 1, nil, $0) }
    offsets = [0, .max]
    unsafe Self.expectUsage { unsafe receiptkit_verify_batch(verifier, one, offsets, 1, nil, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_verify_batch(verifier, one, offsets, -1, nil, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_verify_batch(verifier, one, offsets, .max, nil, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_verify(verifier, one, -1, $0) }
    unsafe Self.expectUsage { unsafe receiptkit_verify(verifier, one, .min, $0) }
    // Without room for the text there is nothing to say it in.
    #expect(unsafe receiptkit_verify(verifier, one, 1, nil) == 64)
    #expect(receiptkit_version(nil) == 64)
    let empty = unsafe Library.call { unsafe receiptkit_verify(verifier, nil, 0, $0) }
    #expect(empty.status == 1 && empty.json?["type"]?.string == "verdict")
    receiptkit_text_free(nil)
    var text = unsafe receiptkit_text()
    unsafe receiptkit_text_free(&text)
  }

  @Test("a text that was freed is empty, and may be freed again")
  func freedText() {
    var text = unsafe receiptkit_text()
    #expect(unsafe receiptkit_version(&text) == 0)
    #expect(unsafe text.bytes[text.length] == 0)
    for _ in 0..<2 {
      unsafe receiptkit_text_free(&text)
      #expect(unsafe text.bytes == nil && text.length == 0)
    }
  }

  @Test("a handle that was freed, or never returned, is noticed", arguments: [0, 1 << 40, UInt64.max])
  func unknownHandles(handle: UInt64) {
    let (verifier, _) = Library.createVerifier(samples.policy())
    #expect(receiptkit_handle_free(verifier) == 0)
    for handle in [verifier, handle] {
      #expect(Library.verify(samples.receipt, handle).status == 64)
      #expect(Library.verify(batch: [samples.receipt], handle).0.status == 64)
      #expect(Library.payload(samples.receipt, handle).status == 64)
      #expect(Library.sign("{}", handle).status == 64)
      #expect(receiptkit_handle_free(handle) == 64)
    }
    let (another, _) = Library.createVerifier(samples.policy())
    #expect(another != verifier)
    #expect(receiptkit_handle_free(another) == 0)
  }

  @Test("documents that are not UTF-8 are refused with their place")
  func invalidUTF8() {
    let (handle, outcome) = Library.createVerifier(
      Array(#"{"bundleIds": [""#.utf8) + [0xFF, 0xFE] + Array(#""]}"#.utf8))
    #expect(handle == 0 && outcome.status == 64 && outcome.code == "invalid-utf8", "\(outcome)")
    let (verifier, _) = Library.createVerifier(samples.policy())
    defer { _ = receiptkit_handle_free(verifier) }
    for receipt in [[0xFF, 0xFE, 0x00], [UInt8](repeating: 0x80, count: 1000)] as [[UInt8]] {
      #expect(Library.verify(receipt, verifier).status == 1)
    }
  }

  @Test("a receipt that is longer than the policy allows is refused, and no more of it is read")
  func longReceipts() {
    let (verifier, _) = Library.createVerifier(samples.policy(#","maximumByteCount": 1000"#))
    defer { _ = receiptkit_handle_free(verifier) }
    // Less memory than the length says: the library reads 1,001 bytes.
    let receipt = [UInt8](repeating: UInt8(ascii: "e"), count: 1001)
    let outcome = unsafe Library.call { unsafe receiptkit_verify(verifier, receipt, 1 << 40, $0) }
    #expect(outcome.status == 1 && outcome.text.contains("1000"), "\(outcome)")
  }

  private static func expectUsage(
    _ function: (UnsafeMutablePointer<receiptkit_text>) -> Int32,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let outcome = unsafe Library.call(function)
    #expect(outcome.status == 64, sourceLocation: location)
    #expect(outcome.json?["type"]?.string == "error", "\(outcome)", sourceLocation: location)
  }
}
