// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  @testable import ReceiptService
  import Testing

  /// Which bodies are looked at as they are.
  @Suite struct ReceiptContentTests {
    private static let receipt = Array("eyJhbGciOiJFUzI1NiJ9.e30.AAAA".utf8)

    @Test(
      "bodies that are sent as they are",
      arguments: [
        nil, "", "application/octet-stream", "application/json", "text/plain; charset=utf-8",
        "application/jose",
        // The type that curl gives every body by default.
        "application/x-www-form-urlencoded",
      ])
    func accepted(type: String?) {
      var fields = HTTPFields()
      if let type { fields[.contentType] = type }
      #expect(ReceiptContent.problem(fields) == nil)
      for body in [
        Self.receipt, Array("MIIB+/AA==\n".utf8), Array(#"{"signedPayload":"a=b"}"#.utf8),
        [0x30, 0x82, 0x3D],
      ] {
        #expect(ReceiptContent.problem(fields, body: body) == nil)
      }
      fields[.contentEncoding] = " Identity "
      fields[.transferEncoding] = "Chunked"
      #expect(ReceiptContent.problem(fields, body: Self.receipt) == nil)
    }

    @Test(
      "encoded bodies and forms of parts",
      arguments: [
        (HTTPField.Name.contentEncoding, "gzip"), (.contentEncoding, "identity, br"), (.contentEncoding, "x"),
        (.transferEncoding, "gzip, chunked"), (.contentType, "multipart/form-data; boundary=b"),
        (.contentType, "Multipart/Mixed"),
      ])
    func refused(name: HTTPField.Name, value: String) {
      let fields: HTTPFields = [name: value]
      for problem in [ReceiptContent.problem(fields), ReceiptContent.problem(fields, body: Self.receipt)] {
        #expect(problem?.status == .unsupportedMediaType)
        #expect(problem?.code == "unsupported-media-type")
      }
    }

    @Test(
      "forms, and what is none",
      arguments: [
        ("receipt=abc", true), ("a=", true), ("receipt%5B%5D=abc&b=c", true), ("a+b=c", true),
        (String(repeating: "a", count: 64) + "=", true), (String(repeating: "a", count: 65) + "=", false),
        ("receipt", false), ("", false), ("=a", false), (#"{"a":"b=c"}"#, false), ("a b=c", false),
      ])
    func forms(body: String, isForm: Bool) {
      let fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded; charset=UTF-8"]
      #expect((ReceiptContent.problem(fields, body: Array(body.utf8)) != nil) == isForm)
      #expect(ReceiptContent.problem([.contentType: "text/plain"], body: Array(body.utf8)) == nil)
    }
  }
#endif
