// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct TreeHashTests {
  @Test func `the root of the empty tree is SHA-256 of nothing`() {
    #expect(
      TreeHash.empty.hexadecimal == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(TreeHash.empty.base64 == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    #expect(MemoryLayout<TreeHash>.size == 32)
  }

  @Test func `leaves and nodes are hashed with their prefixes`() {
    for length in [0, 1, 54, 55, 56, 63, 64, 65, 1024, 65535] {
      let entry = Random.bytes(length)
      #expect(TreeHash.leaf(entry).bytes == Digest.hash([0] + entry, using: .sha256))
    }
    let left = TreeHash.leaf([1])
    let right = TreeHash.leaf([2])
    #expect(TreeHash.node(left, right).bytes == Digest.hash([1] + left.bytes + right.bytes, using: .sha256))
    #expect(TreeHash.node(left, right) != TreeHash.node(right, left))
  }

  @Test func `a hash is 32 bytes and nothing else`() {
    let bytes = Random.bytes(33)
    #expect(TreeHash(bytes[..<31]) == nil)
    #expect(TreeHash(bytes) == nil)
    #expect(TreeHash([UInt8]()) == nil)
    #expect(TreeHash(bytes[1...])?.bytes == Array(bytes[1...]))
  }

  @Test func `base64 has one spelling`() throws {
    let hash = TreeHash.leaf([7])
    #expect(TreeHash(base64: hash.base64) == hash)
    // The last character before the padding holds two bits that must be zero.
    let text = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    for wrong in [
      "", "=", String(text.dropLast()), text + "=", text + "\n", " " + text.dropFirst(),
      text.replacing("FU=", with: "FV="), text.replacing("/", with: "_"), text.replacing("FU=", with: "F=U"),
      text + text, text.replacing("FU=", with: "FUA"),
    ] {
      #expect(TreeHash(base64: wrong) == nil, "\(wrong)")
    }
  }
}
