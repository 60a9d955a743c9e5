// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  import NIOCore
  import NIOHTTPTypes
  @testable import ReceiptService
  import Testing

  /// The handling of a connection's input, without a channel.
  @Suite struct EarlyRequestsTests {
    private struct Failure: Error {}

    /// A connection whose requests to `/early` may be answered early; each is numbered.
    private struct Connection {
      var requests = EarlyRequests<Int>(maximumBodyByteCount: 10)
      private(set) var begun = 0

      mutating func receive(_ input: EarlyRequests<Int>.Input) -> [String] {
        let number = begun + 1
        var isBegun = false
        let actions = requests.receive(input) { head in
          guard head.path == "/early" else { return nil }
          isBegun = true
          return number
        }
        if isBegun { begun = number }
        return actions.map(Self.text)
      }

      mutating func receive(_ parts: HTTPRequestPart...) -> [String] {
        var actions: [String] = []
        for part in parts { actions += receive(.part(part)) }
        return actions
      }

      /// The actions for the input that waited.
      mutating func resume() -> [String] {
        var actions: [String] = []
        while let input = requests.nextPending() { actions += receive(input) }
        return actions
      }

      static func text(_ action: EarlyRequests<Int>.Action) -> String {
        switch action {
        case .passOn(.part(.head(let head))): "head \(head.path ?? "")"
        case .passOn(.part(.body(let body))): "body \(String(buffer: body))"
        case .passOn(.part(.end)): "end"
        case .passOn(.event): "event"
        case .passOn(.failure): "failure"
        case .perform(let number, let body): "perform \(number) \(String(buffer: body))"
        case .release: "release"
        }
      }
    }

    private static func head(_ path: String = "/early", type: String? = nil) -> HTTPRequestPart {
      var fields = HTTPFields()
      fields[.contentType] = type
      return .head(
        HTTPRequest(method: .post, scheme: nil, authority: nil, path: path, headerFields: fields))
    }

    private static func body(_ text: String) -> HTTPRequestPart { .body(ByteBuffer(string: text)) }

    @Test func aShortRequestIsPerformedWhenItIsComplete() {
      var connection = Connection()
      #expect(connection.receive(Self.head(), Self.body("12345"), Self.body("67890")).isEmpty)
      #expect(connection.receive(.end(nil)) == ["perform 1 1234567890"])
      #expect(connection.requests.finish() == 1)
      #expect(connection.requests.finish() == nil)
      #expect(connection.receive(Self.head(), .end(nil)) == ["perform 2 "])
    }

    @Test func aRequestThatTurnsOutUnfitIsPassedOnWhole() {
      let ends: [(HTTPRequestPart, [String])] = [
        (Self.body("67890+"), ["body 67890+"]), (.end([.date: "x"]), ["end"]),
      ]
      for (part, rest) in ends {
        var connection = Connection()
        #expect(connection.receive(Self.head(), Self.body("12345")).isEmpty)
        #expect(connection.receive(part) == ["release", "head /early", "body 12345"] + rest)
        // Nothing is released twice.
        #expect(connection.requests.abandon() == nil)
      }
    }

    @Test func aFormIsPassedOn() {
      var connection = Connection()
      let head = Self.head(type: "application/x-www-form-urlencoded")
      #expect(connection.receive(head, Self.body("a=b")).isEmpty)
      #expect(connection.receive(.end(nil)) == ["release", "head /early", "body a=b", "end"])
      connection.requests.routerAnswered()
      #expect(connection.receive(head, Self.body("ab"), .end(nil)) == ["perform 2 ab"])
    }

    @Test func aRequestBehindOneOfTheRouterIsForTheRouter() {
      var connection = Connection()
      #expect(connection.receive(Self.head("/other"), .end(nil)) == ["head /other", "end"])
      #expect(connection.receive(Self.head(), .end(nil)) == ["head /early", "end"])
      #expect(connection.begun == 0)
      connection.requests.routerAnswered()
      #expect(connection.receive(Self.head(), .end(nil)) == ["head /early", "end"])
      for _ in 1...3 { connection.requests.routerAnswered() }
      #expect(connection.receive(Self.head(), .end(nil)) == ["perform 1 "])
    }

    @Test func inputBehindARequestWaitsForItsAnswer() {
      var connection = Connection()
      #expect(connection.receive(Self.head(), .end(nil)) == ["perform 1 "])
      #expect(connection.requests.mayRead() == false)
      #expect(connection.receive(Self.head(), .end(nil), Self.head("/other")).isEmpty)
      #expect(connection.receive(.event("event")).isEmpty)
      #expect(connection.receive(.failure(Failure())).isEmpty)
      #expect(connection.requests.isInputPending)
      #expect(connection.resume() == [])
      #expect(connection.requests.resumeReading() == false)

      #expect(connection.requests.finish() == 1)
      #expect(connection.resume() == ["perform 2 "])
      #expect(connection.requests.isInputPending)
      #expect(connection.requests.resumeReading() == false)
      #expect(connection.requests.finish() == 2)
      #expect(connection.resume() == ["head /other", "event", "failure"])
      #expect(!connection.requests.isInputPending)
      #expect(connection.requests.resumeReading() == true)
      #expect(connection.requests.resumeReading() == false)
      #expect(connection.requests.mayRead() == true)
    }

    @Test func whatBreaksARequestOffComesAfterIt() {
      for (input, last) in [
        (EarlyRequests<Int>.Input.event("event"), "event"), (.failure(Failure()), "failure"),
      ] {
        var connection = Connection()
        #expect(connection.receive(input) == [last])
        #expect(connection.receive(Self.head(), Self.body("1")).isEmpty)
        #expect(connection.receive(input) == ["release", "head /early", "body 1", last])
      }
    }

    @Test func aRequestThatCannotBeAnsweredIsPassedOnWhole() {
      var connection = Connection()
      #expect(connection.requests.giveUp() == nil)
      #expect(connection.receive(Self.head(), Self.body("1"), .end(nil)) == ["perform 1 1"])
      let actions = connection.requests.giveUp()?.map(Connection.text)
      #expect(actions == ["release", "head /early", "body 1", "end"])
      #expect(connection.requests.finish() == nil)
      // The router answers it first.
      #expect(connection.receive(Self.head(), .end(nil)) == ["head /early", "end"])
    }

    @Test func aConnectionThatEndsGivesThePlaceBackOnce() {
      for parts in [[Self.head()], [Self.head(), Self.body("1")], [Self.head(), .end(nil)]] {
        var connection = Connection()
        #expect(connection.requests.abandon() == nil)
        for part in parts { _ = connection.receive(.part(part)) }
        #expect(connection.requests.abandon() != nil)
        #expect(connection.requests.abandon() == nil)
        #expect(connection.requests.finish() == nil)
        #expect(connection.requests.giveUp() == nil)
      }
    }
  }
#endif
