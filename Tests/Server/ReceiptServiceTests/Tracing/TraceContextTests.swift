// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  import Instrumentation
  import ReceiptHTTP
  @testable import ReceiptService
  import Testing

  /// With the examples of W3C Trace Context (<https://www.w3.org/TR/trace-context/>).
  @Suite struct TraceContextTests {
    static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    static let state = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"

    @Test(arguments: [parent, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"])
    func readsAndWritesTheExamples(parent: String) throws {
      let trace = try #require(TraceContext(parent: parent, state: Self.state))
      #expect(trace.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
      #expect(trace.spanID == "00f067aa0ba902b7")
      #expect(trace.state == Self.state)
      #expect(trace.parent == parent)
    }

    @Test(arguments: [
      "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
    ])
    func laterVersionsAndFlagsAreWrittenInVersion00(parent: String) throws {
      #expect(try #require(TraceContext(parent: parent, state: nil)).parent == Self.parent)
    }

    @Test(arguments: [
      "", "00", "garbage", parent + "-", parent + "-00", parent + " ", " " + parent,
      String(parent.dropLast()),
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
      "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bg-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
      "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
      "+0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
    ])
    func malformedParentIsIgnored(parent: String) {
      #expect(TraceContext(parent: parent, state: Self.state) == nil)
    }

    @Test func everyByteCounts() {
      let bytes = Array(Self.parent.utf8)
      for index in bytes.indices {
        for other: UInt8 in [0x00, 0x20, 0x2C, 0x47, 0x67, 0x7F] {
          var altered = bytes
          altered[index] = other
          #expect(
            TraceContext(parent: String(decoding: altered, as: UTF8.self), state: nil) == nil, "\(index)")
        }
      }
    }

    @Test(arguments: [
      state, "rojo=00f067aa0ba902b7", "congo=t61rcWkgMzE", "fw529a3039@dt=FfAAb3R", "a=b , c=d", "a=b,,c=d",
      "0a=b",
      "a_-*/9=!\"#$%&'()*+-./:;<>?@[]^_`{|}~", (0..<32).map { "k\($0)=v" }.joined(separator: ","),
      String(repeating: "k", count: 255) + "=" + String(repeating: "v", count: 256),
    ])
    func stateIsHandedOn(state: String) {
      #expect(TraceContext(parent: Self.parent, state: state)?.state == state)
    }

    @Test(arguments: [
      "", ",", "a", "=b", "a=", "A=b", "a b=c", "a=b=c", "a@=b", "@a=b", "a@b@c=d", "a=é", "a=\u{1}",
      (0..<33).map { "k\($0)=v" }.joined(separator: ","), String(repeating: "k", count: 257) + "=v",
      "k=" + String(repeating: "v", count: 257),
      (0..<30).map { "key\($0)=0123456789abcdef" }.joined(separator: ","),
      "tenant@system-of-fifteen=v",
    ])
    func malformedStateIsLeftOut(state: String) throws {
      let trace = try #require(TraceContext(parent: Self.parent, state: state))
      #expect(trace.state == nil)
      #expect(trace.parent == Self.parent)
    }

    @Test func instrumentReadsFieldsAndWritesHeaders() {
      func trace(_ fields: HTTPFields) -> TraceContext? {
        var context = InstrumentationContext.topLevel
        TraceContextInstrument().extract(fields, into: &context, using: FieldsExtractor())
        return context.trace
      }
      let parent = HTTPField.Name("Traceparent")!
      let state = HTTPField.Name("TraceState")!
      var fields = HTTPFields()
      fields.append(HTTPField(name: parent, value: Self.parent))
      fields.append(HTTPField(name: state, value: "rojo=00f067aa0ba902b7"))
      fields.append(HTTPField(name: state, value: "congo=t61rcWkgMzE"))
      #expect(trace(fields) == TraceContext(parent: Self.parent, state: Self.state))
      // Which of two is meant nobody knows.
      fields.append(HTTPField(name: parent, value: Self.parent))
      #expect(trace(fields) == nil)
      #expect(trace([state: Self.state]) == nil)
    }

    @Test func storedHeadersAreRead() {
      let headers = TraceHeaders.headers(stored: "traceparent: \(Self.parent)\ntracestate: a=b: c")
      #expect(headers.map(\.name) == ["traceparent", "tracestate"])
      #expect(headers.map(\.value) == [Self.parent, "a=b: c"])
      #expect(TraceHeaders.headers(stored: nil).isEmpty)
      #expect(TraceHeaders.headers(stored: "nothing").isEmpty)
      #expect(TraceHeaders.stored == nil)
    }
  }
#endif
