// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import ReceiptService
  import Testing

  /// Which lines of a batch are verified together, and who waits, without tasks.
  @Suite struct BatchRunsTests {
    private struct Failure: Error {}

    private struct Run: Hashable {
      let first: Int
      let count: Int
    }

    private static func begin(_ lines: [[UInt8]], _ first: Int) -> Run {
      Run(first: first, count: lines.count)
    }

    private static func lines(_ count: Int) -> [[UInt8]] { Array(repeating: [0x41], count: count) }

    /// The next run, after the resumed waiters are compared.
    private static func next(
      _ runs: inout BatchRuns<Run, String>, waking expected: [String] = []
    ) throws -> Run? {
      let (run, _, woken) = try runs.next(begin)
      #expect(woken == expected)
      return run
    }

    @Test func aLineWaitsForNoOther() throws {
      var runs = BatchRuns<Run, String>(limit: 2)
      #expect(runs.wait(writer: "writer") == true)
      let (mayReadOn, woken) = try runs.append(Self.lines(1), Self.begin)
      #expect(mayReadOn && woken == ["writer"])
      // It comes while it is asked for.
      #expect(runs.wait(writer: "writer") == false)
      #expect(try Self.next(&runs) == Run(first: 0, count: 1))
      #expect(runs.wait(writer: "writer") == true)
    }

    @Test func linesThatArriveTogetherAreVerifiedTogether() throws {
      var runs = BatchRuns<Run, String>(limit: 2)
      #expect(try runs.append(Self.lines(70), Self.begin).mayReadOn)
      #expect(try Self.next(&runs) == Run(first: 0, count: 64))
      #expect(try Self.next(&runs) == Run(first: 64, count: 6))
      #expect(try Self.next(&runs) == nil)
    }

    @Test func theReaderWaitsForAPlace() throws {
      var runs = BatchRuns<Run, String>(limit: 2)
      #expect(runs.wait(reader: "reader") == false)
      let full = try runs.append(Self.lines(3 * 64 + 1), Self.begin)
      #expect(!full.mayReadOn && full.woken.isEmpty)
      #expect(runs.wait(reader: "reader") == true)
      #expect(try Self.next(&runs, waking: ["reader"]) == Run(first: 0, count: 64))
      #expect(runs.wait(reader: "reader") == false)
      // The reader looks again, with nothing new.
      #expect(try runs.append([], Self.begin).mayReadOn)
      #expect(try Self.next(&runs) == Run(first: 64, count: 64))
      #expect(try Self.next(&runs) == Run(first: 128, count: 64))
      #expect(try Self.next(&runs) == Run(first: 192, count: 1))
    }

    @Test func anErrorOfTheInputComesAfterTheRunsBeforeIt() throws {
      var runs = BatchRuns<Run, String>(limit: 2)
      #expect(runs.wait(writer: "writer") == true)
      #expect(runs.finish(Failure()) == ["writer"])
      #expect(throws: Failure.self) { try Self.next(&runs) }

      var others = BatchRuns<Run, String>(limit: 2)
      _ = try others.append(Self.lines(1), Self.begin)
      #expect(others.finish(Failure()) == [])
      #expect(try Self.next(&others) == Run(first: 0, count: 1))
      #expect(throws: Failure.self) { try Self.next(&others) }
    }

    @Test func theEndComesAfterTheLastRun() throws {
      var runs = BatchRuns<Run, String>(limit: 2)
      _ = try runs.append(Self.lines(1), Self.begin)
      #expect(try Self.next(&runs) == Run(first: 0, count: 1))
      #expect(try !runs.next(Self.begin).isOver)
      #expect(runs.finish(nil) == [])
      #expect(runs.wait(writer: "writer") == false)
      #expect(try runs.next(Self.begin).isOver)
    }

    @Test func cancellingWakesTheReaderAndTakesNoMore() throws {
      var runs = BatchRuns<Run, String>(limit: 1)
      _ = try runs.append(Self.lines(200), Self.begin)
      #expect(runs.wait(reader: "reader") == true)
      let (cancelled, woken) = runs.cancel()
      #expect(cancelled == [Run(first: 0, count: 64)] && woken == ["reader"])
      #expect(runs.wait(reader: "reader") == false)
      #expect(throws: CancellationError.self) { try runs.append([], Self.begin) }
    }
  }
#endif
