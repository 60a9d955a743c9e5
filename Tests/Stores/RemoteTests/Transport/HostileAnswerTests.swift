// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptHTTP
import Testing

/// Servers that answer with anything. RECEIPTKIT_HOSTILE_ANSWERS says how many random answers each transport gets.
@Suite(.timeLimit(.minutes(5))) struct HostileAnswerTests {
  private static let count =
    ProcessInfo.processInfo.environment["RECEIPTKIT_HOSTILE_ANSWERS"].flatMap { Int($0) } ?? 400

  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  private static let versions = [
    "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2", "HTTP/0.9", "http/1.1", "",
  ]
  private static let statuses = [
    "200", "200", "204", "304", "100", "101", "102", "103", "199", "000", "001", "0", "099", "99", "010",
    "-1",
    "600", "999", "1000", "99999999999", "", "2 0", "２００", "404", "503",
  ]
  private static let headers = [
    "Content-Length: 5", "Content-Length: 0", "Content-Length: -1", "Content-Length: 99999999999999999999",
    "Content-Length: 5\r\nContent-Length: 6", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip",
    "Transfer-Encoding: chunked\r\nContent-Length: 5", "Connection: close",
    "Connection: upgrade\r\nUpgrade: h2c",
    "X: \u{0}", ": x", "no colon", "Content-Encoding: gzip", "Trailer: X",
    "X: " + String(repeating: "x", count: 9000),
    String(repeating: "X: y\r\n", count: 500) + "X: y",
  ]
  private static let bodies = [
    "", "hello", "5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\nX: y\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\n",
    "-1\r\n", "5;",
    "hello and more", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "0\r\n\r\nHTTP/1.1 000 X\r\n\r\n",
  ]

  private static func answer(_ number: Int) -> [UInt8] {
    var random = Generator(state: UInt64(number))
    func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
    var text = ""
    for _ in 0..<([0, 0, 0, 1, 3, 40].randomElement(using: &random) ?? 0) {
      text += "HTTP/1.1 \(pick(["100", "103", "102", "101", "099"])) X\r\n\r\n"
    }
    text += "\(pick(versions)) \(pick(statuses)) \(pick(["OK", "", "\u{7}"]))\r\n"
    for _ in 0..<([0, 1, 1, 2, 3].randomElement(using: &random) ?? 0) { text += pick(headers) + "\r\n" }
    var bytes = Array((text + "\r\n" + pick(bodies)).utf8)
    if Int.random(in: 0..<4, using: &random) == 0 {
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<min(bytes.count, 60), using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
    }
    if Int.random(in: 0..<8, using: &random) == 0 {
      bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
    }
    return bytes
  }

  private static func request(_ server: RecordingServer, _ path: String, body: Int? = nil) throws
    -> RemoteRequest
  {
    RemoteRequest(
      body == nil ? .get : .post, try RemoteURL("http://127.0.0.1:\(server.port)/\(path)"),
      body: body.map { [UInt8](repeating: 0x41, count: $0) }, timeout: .milliseconds(500),
      maximumResponseByteCount: 100_000)
  }

  @Test("no answer ends the process, and the next request is answered", arguments: TransportFactory.all)
  func anything(factory: TransportFactory) async throws {
    let server = try RecordingServer { request in
      let path = request.line.split(separator: " ").dropFirst().first ?? ""
      guard let number = Int(path.dropFirst()) else { return RecordingServer.answer(200, "{}") }
      return Self.answer(number)
    }
    let made = try factory.make(nil)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<16 {
        group.addTask {
          for number in stride(from: lane, to: Self.count, by: 16) {
            // The outcome of a request does not matter, as long as it ends.
            let request = try Self.request(server, "\(number)", body: number % 3 == 0 ? 200_000 : nil)
            if let response = try? await made.transport.send(request) {
              #expect(100...999 ~= response.status, "\(number)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await made.transport.send(Self.request(server, "right")).status == 200)
    try await made.shutdown()
    server.close()
  }

  @Test("a status below 100 is no answer", arguments: TransportFactory.all, ["000", "001", "042", "099"])
  func impossible(factory: TransportFactory, status: String) async throws {
    let server = try RecordingServer { _ in
      Array("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
    }
    let made = try factory.make(nil)
    let error = try await failure(of: Self.request(server, ""), by: made.transport)
    #expect([.invalidResponse, .connectionLost, .timedOut].contains(error.code), "\(error)")
    #expect(!error.wasNotSent)
    try await made.shutdown()
    server.close()
  }
}
