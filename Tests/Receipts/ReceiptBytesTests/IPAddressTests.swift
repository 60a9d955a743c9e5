// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

/// Addresses as the system's resolver reads them.
@Suite struct IPAddressTests {
  @Test(
    "every spelling of an address is that address",
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("0x7f.0.0.1", "127.0.0.1"),
      ("2130706433", "127.0.0.1"), ("::1", "0:0:0:0:0:0:0:1"), ("2001:DB8::a:1", "2001:db8:0:0:0:0:a:1"),
      ("::ffff:10.0.0.1", "0:0:0:0:0:ffff:a00:1"),
    ])
  func spellings(text: String, expected: String) throws {
    let addresses = IPAddress.resolve(text, isNumeric: true)
    #expect(addresses.map(\.description) == [expected])
    // Its own spelling is that of the same address.
    #expect(IPAddress.resolve(expected, isNumeric: true) == addresses)
    #expect(IPAddress(bytes: try #require(addresses.first).bytes) == addresses[0])
  }

  @Test("names are resolved unless only addresses are asked for; what is none has none")
  func names() {
    #expect(!IPAddress.resolve("localhost").isEmpty)
    #expect(IPAddress.resolve("localhost", isNumeric: true).isEmpty)
    #expect(IPAddress.resolve("256.0.0.1", isNumeric: true).isEmpty)
    #expect(IPAddress(bytes: [1, 2, 3]) == nil)
  }
}
