// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import ReceiptService
  import RemoteChecks
  import Testing

  @Suite("Console search")
  struct ConsoleSearchTests {
    @Test(
      "A text is taken for what its form says",
      arguments: [
        ("0", .entry), ("#12", .entry), ("46", .entry), ("1234567890", .entry), ("12345678901", .transaction),
        ("2000000811223344", .transaction), ("MK1B2C3D4E", .appStoreOrder), ("MABC", .customer),
        ("Mustermann", .customer), ("GPA.3345-1234-1234-12345", .googlePlayOrder),
        ("GPA.3345-1234-1234-12345..0", .googlePlayOrder),
        ("7f3a0c52-1e6c-4d0c-9d38-0a5f3f0c2b11", .customer),
        ("user 4711", .customer), ("com.example.app.monthly", .product), ("gr_0123", .grant),
        (String(repeating: "0a", count: 32), .digest), (String(repeating: "z", count: 150), .purchaseToken),
        ("eyJhbGciOiJFUzI1NiJ9.e30.AA", .receipt), ("{\"signature\" = \"x\";}", .receipt), ("{}", .receipt),
        ("\"quoted\"", .receipt), ("MII" + String(repeating: "A", count: 300), .receipt),
        ("ewoJ" + String(repeating: "A", count: 300), .receipt), ("two\nlines", .receipt),
        (String(repeating: "a", count: SearchMeaning.maximumByteCount + 1), .receipt),
      ] as [(String, SearchMeaning)])
    func meanings(text: String, meaning: SearchMeaning) {
      let found = SearchMeaning.list(of: text)
      #expect(found.first == meaning)
      // A receipt is nothing else; any other text may be the identifier of a customer.
      #expect(found.contains(.customer) == (meaning != .receipt))
      #expect(Set(found).count == found.count)
    }

    @Test("No text that could come into an address is longer than an address may be")
    func lengths() {
      for count in [1, 59, 60, 511, 512] {
        #expect(SearchMeaning.list(of: String(repeating: "x", count: count)) != [.receipt])
      }
      #expect(SearchMeaning.list(of: String(repeating: "ä", count: 300)) == [.receipt])
    }

    @Test("A store is asked only by the identifiers that it has")
    func references() {
      #expect(SearchIndex.reference("1", .transaction) == .appStoreTransaction("1"))
      #expect(SearchIndex.reference("MK1B2C3D4E", .appStoreOrder) == .appStoreOrder("MK1B2C3D4E"))
      #expect(SearchIndex.reference("t", .purchaseToken) == .googlePlay(purchaseToken: "t"))
      for meaning in SearchMeaning.allCases
      where ![.transaction, .appStoreOrder, .purchaseToken].contains(meaning) {
        #expect(SearchIndex.reference("1", meaning) == nil)
      }
      #expect(SearchIndex.reference("two words", .transaction) == nil)
    }
  }
#endif
