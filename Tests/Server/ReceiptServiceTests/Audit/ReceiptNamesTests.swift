// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptBytes
  @testable import ReceiptService
  import Testing

  /// The name of a customer that can be read in a receipt is among those by which the receipt is found.
  @Suite(.timeLimit(.minutes(2))) struct ReceiptNamesTests {
    private static let account = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

    /// A JWS that nobody signed.
    private static func jws(_ payload: String) -> [UInt8] {
      let parts = [Array(#"{"alg":"ES256","x5c":[]}"#.utf8), Array(payload.utf8), Array(0..<64)]
      return Array(parts.map(Base64URL.encodeToString).joined(separator: ".").utf8)
    }

    private static let transaction = jws(
      #"{"bundleId":"com.example.shop","appAccountToken":"\#(account)","price":4990}"#)

    @Test(
      "in receipts of every kind",
      arguments: [
        ("a transaction", transaction),
        ("in capitals", jws(#"{"appAccountToken" : "\#(account.uppercased())"}"#)),
        ("escaped", jws(#"{"appAccountToken":"\u0030a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"}"#)),
        (
          "a notification",
          jws(#"{"data":{"signedTransactionInfo":"\#(String(decoding: transaction, as: UTF8.self))"}}"#)
        ),
        ("in base64", Base64.encode(transaction)),
        (
          "in base64 of lines",
          Array(
            Base64.encode(transaction).enumerated().flatMap { index, byte in
              index % 77 == 76 ? [13, 10, byte] : [byte]
            })
        ),
        ("Google Play", Array(#"{"orderId":"GPA.1","obfuscatedAccountId":"\#(account)"}"#.utf8)),
        (
          "Google Play in a string",
          Array(#"{"data":"{\"orderId\":\"GPA.1\",\"obfuscatedAccountId\":\"\#(account)\"}"}"#.utf8)
        ),
        ("without its end", Array(#"{"obfuscatedAccountId":"\#(account)"#.utf8)),
        ("without a signature", transaction.dropLast(87)),
      ] as [(String, [UInt8])])
    func kinds(name: String, receipt: [UInt8]) {
      #expect(ReceiptNames.accounts(in: receipt) == [Self.account])
      #expect(ReceiptNames.contain(Self.account, in: receipt))
      #expect(!ReceiptNames.contain("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f0", in: receipt))
    }

    @Test("in a receipt with one byte altered, lost or added, wherever the account is left whole")
    func damaged() {
      var readable = 0
      for place in Self.transaction.indices {
        for damage in 0..<4 {
          var receipt = Self.transaction
          switch damage {
          case 0: receipt[place] ^= 1
          case 1: receipt[place] = UInt8(ascii: "@")
          case 2: receipt.remove(at: place)
          default: receipt.insert(UInt8(ascii: "A"), at: place)
          }
          let isReadable = ReceiptNames.contain(Self.account, in: receipt)
          #expect(
            ReceiptNames.accounts(in: receipt).contains(Self.account) == isReadable, "\(damage) at \(place)")
          if isReadable { readable += 1 }
        }
      }
      // The account is in 48 of the digits; what replaces one of them may leave it as it is.
      #expect(readable >= 4 * (Self.transaction.count - 52))
    }

    /// "lZWV" is base64 of base64 at each of the four places where its groups can begin, and so is what it encodes; the end
    /// encodes what is no plain text. Without the bound its layers are 9.48 times as long as it is.
    @Test("however its base64 is nested, the work for a receipt is in proportion to its length")
    func boundedWork() {
      let nested = Array((String(repeating: "lZWV", count: 3000) + "________").utf8)
      var layers = EncodedLayers(nested, minimumRunByteCount: 20)
      var byteCount = 0
      while let layer = layers.next() { byteCount += layer.count }
      #expect(byteCount > 8 * nested.count)
      #expect(byteCount <= nested.count + EncodedLayers.maximumDecodedBytesPerByte * nested.count * 3 / 4)
    }

    @Test("base64 of base64 names nobody, and of thousands of accounts 64 are taken")
    func hostile() {
      let periodic = Array(String(repeating: "eHh4", count: 50_000).utf8)
      #expect(ReceiptNames.accounts(in: periodic).isEmpty)
      #expect(!ReceiptNames.contain(Self.account, in: periodic))
      let many = (0..<5000).map { #""obfuscatedAccountId":"\#($0)""# }.joined(separator: ",")
      #expect(ReceiptNames.accounts(in: Array(many.utf8)).count == 64)
    }
  }
#endif
