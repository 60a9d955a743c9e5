// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct AddCheckpointTests {
  /// The example of C2SP tlog-witness.
  static let example = """
    old 20852014
    PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
    jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
    5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
    /6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

    example.com/behind-the-sofa
    20852163
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

    — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
    — example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=

    """
  static let answer = """
    — witness.example/w1 CMp+6LWBU0anHGH5aNDTJkH/gj79sG+T6+iP2ThYN5krrDJbR1HDnucjL39QsZTSvVjyQLrdk3DXDqI5G2HgLatVs0pWh6Up69HVOw==
    — witness.example/w1 I7rEps0pvK2UqkS2gSpVUDhrhVtQV9lgF6pRrWAvjJHjyWpW7VcE3SiOlVlbQNt64vWhO+DlkL0+UfzuOBMh9ChdMkP1vi/lCAsmlw==

    """

  @Test func `the examples of the specification are read and written`() throws {
    let request = try AddCheckpointRequest(parsing: Array(Self.example.utf8))
    #expect(request.oldSize == 20_852_014)
    #expect(request.consistencyProof.count == 4)
    #expect(request.checkpoint.unverifiedCheckpoint.size == 20_852_163)
    #expect(request.encoded == Array(Self.example.utf8))
    let response = try AddCheckpointResponse(status: 200, body: Array(Self.answer.utf8))
    guard case .cosigned(let lines) = response else {
      Issue.record("\(response)")
      return
    }
    #expect(lines.map(\.signature.count) == [72, 72])
    #expect(response.body == Array(Self.answer.utf8))
    #expect(response.status == 200)
  }

  @Test func `faults of a request are named with their line`() {
    func fails(_ code: LogFormatError.Code, _ line: Int, _ text: String) -> Bool {
      expectFormatError(code, .line(line), text) { _ = try AddCheckpointRequest(parsing: $0) }
    }
    let hash = TreeHash.leaf([1]).base64
    #expect(fails(.truncated, 1, ""))
    #expect(fails(.truncated, 1, "old 1"))
    #expect(fails(.unexpectedLine, 1, "new 1\n"))
    #expect(fails(.malformedNumber, 1, "old 01\n"))
    #expect(fails(.malformedNumber, 1, "old \n"))
    #expect(fails(.truncated, 2, "old 1\n"))
    #expect(fails(.malformedHash, 3, "old 1\n\(hash)\n\(hash.dropLast())\n"))
    #expect(fails(.tooMany, 65, "old 1\n" + String(repeating: hash + "\n", count: 64) + "\n"))
    #expect(fails(.malformedNumber, 4, "old 1\n\norigin\nx\n\(hash)\n\n— a AAAAAAE=\n"))
    #expect(fails(.noSignatures, 6, "old 1\n\norigin\n1\n\(hash)\n"))
  }

  @Test func `other answers are told apart by their status`() throws {
    let expected: [(Int, String, AddCheckpointResponse)] = [
      (400, "what?", .badRequest), (403, "", .notSigned), (404, "", .unknownLog),
      (409, "0\n", .conflict(size: 0)),
      (409, "18446744073709551615\n", .conflict(size: .max)), (422, "", .inconsistent),
      (500, "", .other(status: 500)), (204, "", .other(status: 204)),
    ]
    for (status, body, response) in expected {
      #expect(try AddCheckpointResponse(status: status, body: Array(body.utf8)) == response)
      #expect(response.status == status)
    }
    func fails(_ code: LogFormatError.Code, _ line: Int, _ status: Int, _ text: String) -> Bool {
      expectFormatError(code, .line(line), text) { _ = try AddCheckpointResponse(status: status, body: $0) }
    }
    #expect(fails(.noSignatures, 1, 200, ""))
    #expect(fails(.malformedSignatureLine, 1, 200, "ok\n"))
    #expect(fails(.truncated, 1, 200, "— a AAAAAAE="))
    #expect(fails(.truncated, 1, 409, ""))
    #expect(fails(.truncated, 1, 409, "5"))
    #expect(fails(.malformedNumber, 1, 409, "05\n"))
    #expect(fails(.unexpectedLine, 2, 409, "5\n6\n"))
  }
}
