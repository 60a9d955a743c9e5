// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ConformanceSuite
import ReceiptBytes
import ReceiptCodec

extension ConformanceRunCommand {
  func validate() throws {
    guard !command.isEmpty else {
      throw ValidationError("The command of the harness is missing: -- COMMAND...")
    }
    guard ConformanceGrade(rawValue: grade) != nil else { throw ValidationError("--grade takes 1 or 2.") }
    guard timeLimit > 0, timeLimit <= 86_400 else {
      throw ValidationError("--time-limit takes a number of seconds above 0, and at most 86400.")
    }
    guard memoryLimit.map({ (1...(1 << 24)).contains($0) }) ?? true else {
      throw ValidationError("--memory-limit takes a number of MiB from 1 to 16777216.")
    }
  }

  func run() throws {
    let suite = try suite()
    let expectedFailures = try readExpectedFailures()
    let chosen = chosen(of: suite)
    let report: ConformanceReport
    do {
      let run = ConformanceRun(
        command: command, timeLimit: .seconds(timeLimit), memoryLimit: memoryLimit.map { UInt64($0) << 20 })
      let grade = ConformanceGrade(rawValue: grade) ?? .verdicts
      let (judge, found) = try run.results(of: chosen, grade: grade, expectedFailures: expectedFailures)
      report = ConformanceReport(of: suite, chosen: chosen, found: found, judge: judge)
    } catch let error as SystemError {
      throw ToolExit.failure(
        .unreadableInput, "\(GivenValue.described(command[0])) cannot be started: \(error.reason)")
    } catch let error as HarnessFault {
      throw ToolExit.failure(.undetermined, "the harness is at fault: \(error)", code: "harnessFault")
    }
    try write(report)
    guard report.isAsExpected else { throw ExitCode.invalid }
  }

  private func suite() throws -> ConformanceSuite {
    let document: [UInt8]
    if suitePath.hasSuffix(".zip") {
      throw ToolExit.failure(
        .unreadableInput,
        "\(GivenValue.described(suitePath)) is not unpacked here: give its suite.json, or the .tar.gz")
    } else if suitePath.hasSuffix(".tar.gz") {
      document = try SuiteArchive.document(in: suitePath)
    } else {
      document = try InputFile.contents(of: suitePath, limit: 1 << 30)
    }
    return try ToolExit.reading(orElse: "\(GivenValue.described(suitePath)) cannot be used") {
      () throws(UnusableInput) in try ConformanceSuite(document)
    }
  }

  private func readExpectedFailures() throws -> ExpectedFailures {
    var read = ExpectedFailures()
    for path in expectedFailures {
      let text = String(decoding: try InputFile.contents(of: path), as: UTF8.self)
      try ToolExit.reading(orElse: "the expected failures cannot be used") {
        () throws(UnusableInput) in try read.add(text, from: path)
      }
    }
    return read
  }

  private func chosen(of suite: ConformanceSuite) -> [SuiteCase] {
    let included = (include.isEmpty ? ["*"] : include).map { CasePattern($0) }
    let excluded = exclude.map { CasePattern($0) }
    return suite.cases.filter { each in
      included.contains { $0.matches(each.id) } && !excluded.contains { $0.matches(each.id) }
    }
  }

  private func write(_ report: ConformanceReport) throws {
    let files: [(path: String?, contents: () -> [UInt8])] = [
      (self.report, { report.json.encoded() + [0x0A] }), (junit, { Array(report.junit.utf8) }),
      (markdown, { Array(report.markdown.utf8) }), (html, { Array(report.html.utf8) }),
    ]
    for case (let path?, let contents) in files {
      try NewFile.write(contents(), to: path, overwriting: true)
    }
    try output.write(Output.ConformanceReport(report: report.json), report.text)
  }
}

/// A run of a harness, which is started again after it crashed or was killed.
private struct ConformanceRun {
  let command: [String]
  let timeLimit: Duration
  /// The maximum size of the harness's address space, in bytes.
  let memoryLimit: UInt64?

  /// Asks a harness for the cases that concern it.
  ///
  /// - Throws: ``HarnessFault``, or ``SystemError`` if the harness cannot be started.
  func results(
    of chosen: [SuiteCase], grade: ConformanceGrade, expectedFailures: ExpectedFailures
  ) throws -> (CaseJudge, [CaseResult]) {
    var process: HarnessProcess? = try HarnessProcess(command, memoryLimit: memoryLimit)
    let declaration = try process?.declaration(timeLimit: timeLimit)
    guard let declaration else { throw HarnessFault("it made no declaration") }
    let judge = CaseJudge(declaration: declaration, grade: grade, expectedFailures: expectedFailures)
    let features = Set(declaration.features)
    var conversation = HarnessConversation(chosen.filter { features.isSuperset(of: $0.features) })
    var results: [CaseResult] = []
    let progress = Progress("answered", "cases")
    while let running = process, !conversation.isComplete {
      running.send(conversation.requests(pendingByteCount: running.unsentByteCount))
      let begun = ContinuousClock.now
      let answer = try running.line(until: begun + timeLimit)
      let seconds = (ContinuousClock.now - begun) / .seconds(1)
      if case .line(let line) = answer {
        let (asked, answer) = try conversation.take(line)
        results.append(judge.result(of: asked, answer, seconds: seconds))
      } else {
        process = nil
        let isHanging = if case .deadline = answer { true } else { false }
        let ended = running.end(isEnding: !isHanging)
        let known = isHanging ? "no answer within \(timeLimit / .seconds(1)) s, \(ended)" : ended
        let asked = try conversation.giveUp(known)
        results.append(
          judge.result(of: asked, failedBy: isHanging ? .hang : .crash, known: known, seconds: seconds))
        if !conversation.isComplete { process = try restarted(declaration) }
      }
      progress.show(UInt64(conversation.completedCount), of: UInt64(conversation.caseCount))
    }
    progress.clear()
    try process?.finish(timeLimit: timeLimit)
    return (judge, results)
  }

  private func restarted(_ declaration: HarnessDeclaration) throws -> HarnessProcess {
    let process = try HarnessProcess(command, memoryLimit: memoryLimit)
    guard try process.declaration(timeLimit: timeLimit) == declaration else {
      throw HarnessFault("started again, it declares something else")
    }
    return process
  }
}

/// The archive of a release of the suite.
private enum SuiteArchive {
  /// The suite in a `.tar.gz`, as tar(1) unpacks it.
  static func document(in path: String) throws -> [UInt8] {
    // Opened first, so that a missing file is reported like any other.
    _ = try InputFile.contents(of: path, limit: 1)
    do {
      let unpacking = try HarnessProcess(
        ["tar", "--force-local", "--wildcards", "-xzOf", path, "*/suite.json"], memoryLimit: nil)
      return try unpacking.wholeOutput(limit: 1 << 30)
    } catch {
      throw ToolExit.failure(
        .unreadableInput, "\(GivenValue.described(path)) cannot be unpacked: \(error)")
    }
  }
}
