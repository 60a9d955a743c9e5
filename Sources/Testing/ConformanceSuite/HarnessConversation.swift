// SPDX-License-Identifier: Apache-2.0

/// The cases that a harness is asked: which are to be sent next, and which one is answered next. Input and output are the
/// caller's.
package struct HarnessConversation {
  private let cases: [SuiteCase]
  /// The first case without an answer.
  private var unanswered = 0
  /// The first case that the present process was not sent.
  private var unsent = 0
  private var answerCount = 0

  /// The number of cases that a harness has before it: it need not wait for the runner, nor the runner for it.
  private static let window = 16
  /// A harness that fails at so many cases before it answers one is at fault.
  private static let neverAnswered = 20
  private static let maximumUnsentByteCount = 1 << 20

  package init(_ cases: [SuiteCase]) { self.cases = cases }

  /// Indicates whether every case has an answer, or made the harness fail.
  package var isComplete: Bool { unanswered == cases.count }

  package var completedCount: Int { unanswered }
  package var caseCount: Int { cases.count }

  /// The lines to send now, to a harness that has `pendingByteCount` bytes still to read.
  package mutating func requests(pendingByteCount: Int) -> [UInt8] {
    var lines: [UInt8] = []
    while unsent < cases.count, unsent - unanswered < Self.window,
      pendingByteCount + lines.count < Self.maximumUnsentByteCount
    {
      lines += cases[unsent].request
      unsent += 1
    }
    return lines
  }

  /// Takes a line as the answer to the first case without one.
  ///
  /// - Throws: ``HarnessFault`` if it is not.
  package mutating func take(_ line: [UInt8]) throws(HarnessFault) -> (SuiteCase, HarnessAnswer) {
    let asked = cases[unanswered]
    let answer = try HarnessAnswer(line: line, to: asked)
    answerCount += 1
    unanswered += 1
    return (asked, answer)
  }

  /// Gives up the first case without an answer, at which the harness ended or hung. The next process is sent the
  /// following ones again.
  ///
  /// - Parameter known: How the process ended.
  /// - Returns: The case.
  /// - Throws: ``HarnessFault`` if the harness has never answered.
  package mutating func giveUp(_ known: String) throws(HarnessFault) -> SuiteCase {
    let asked = cases[unanswered]
    unanswered += 1
    unsent = unanswered
    if answerCount == 0, unanswered >= Self.neverAnswered {
      throw HarnessFault("it has answered none of \(Self.neverAnswered) cases: \(known)")
    }
    return asked
  }
}
