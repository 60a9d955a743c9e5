// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter
import Glibc
import Measuring
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptVerification

/// Measures verification and signing beside the primitives they stand on, in one run.
///
/// usage: receipt-bench --first ROOT.cer RECEIPT
///        receipt-bench --lines COUNT ROOT.cer RECEIPTS
///        receipt-bench --batch ROOT.cer RECEIPTS
///        receipt-bench --revocation
///        receipt-bench --history COUNT
///        receipt-bench [rounds] [seconds per measurement] [directory for samples] [part of a name]
@main
enum ReceiptBench {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 4, arguments[1] == "--first" {
      return try measureFirst(root: arguments[2], receipt: arguments[3])
    }
    if arguments.count == 4, arguments[1] == "--batch" {
      return try await measureBatch(root: arguments[2], receipts: arguments[3])
    }
    if arguments.count == 3, arguments[1] == "--history", let count = Int(arguments[2]) {
      return try await HistoryMeasurement.report(count: count)
    }
    if arguments.count == 2, arguments[1] == "--revocation" {
      return try await RevocationMeasurement.report(rounds: 9, seconds: 0.3)
    }
    if arguments.count == 5, arguments[1] == "--lines", let count = Int(arguments[2]) {
      return try writeLines(count: count, root: arguments[3], receipts: arguments[4])
    }
    let rounds = arguments.count > 1 ? Int(arguments[1]) ?? 5 : 5
    let seconds = arguments.count > 2 ? Double(arguments[2]) ?? 0.3 : 0.3
    let samples = try Samples()
    if arguments.count > 3 { try export(samples, to: arguments[3]) }

    let wanted = arguments.count > 4 ? arguments[4] : ""
    let subjects = try (rawSubjects(samples) + verificationSubjects(samples) + signingSubjects(samples))
      .filter { wanted.isEmpty || $0.name.contains(wanted) }
    usleep(200_000)
    var measurements = subjects.map { Measurement(name: $0.name) }
    for round in 0..<rounds {
      progress("round \(round + 1) of \(rounds)")
      for index in subjects.indices {
        measurements[index].rates.append(rate(of: subjects[index], seconds: seconds))
      }
    }
    progress("")
    report(subjects, measurements)
    if wanted.isEmpty {
      reportAllocations(samples)
      reportMemory(samples)
      try await RevocationMeasurement.report(rounds: rounds, seconds: seconds)
    }
  }

  /// Measures the first receipt of a process, including its chain and everything that libcrypto sets up.
  private static func measureFirst(root: String, receipt: String) throws {
    let start = Clock.seconds()
    let verifier = try makeVerifier(root: root)
    let bytes = contents(of: receipt)
    requireValid(verifier.verify(bytes), receipt)
    print("first receipt of a process: \(rounded((Clock.seconds() - start) * 1000, decimals: 2)) ms")
  }

  /// Prints how many receipts of a file, one a line, are verified a second on all cores by one call, the best of five.
  private static func measureBatch(root: String, receipts: String) async throws {
    let verifier = try makeVerifier(root: root)
    let lines = contents(of: receipts).split(separator: 0x0A).map { Array($0) }
    var best = 0.0
    for _ in 0..<5 {
      let start = Clock.seconds()
      let verdicts = try await verifier.verify(lines)
      best = max(best, Double(lines.count) / (Clock.seconds() - start))
      for verdict in verdicts { requireValid(verdict, receipts) }
    }
    print(Int(best))
  }

  private static func makeVerifier(root: String) throws -> ReceiptVerifier {
    ReceiptVerifier(
      trust: TrustAnchors(certificates: try Certificate.certificates(in: contents(of: root))),
      policy: VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox]))
  }

  /// Writes signed transactions, each with an identifier of its own, one a line.
  private static func writeLines(count: Int, root: String, receipts: String) throws {
    let samples = try Samples()
    try store(samples.elliptic.chain.last?.der ?? [], to: root)
    let signer = try JWSSigner(identity: samples.elliptic)
    let now = SystemClock.now()
    guard let file = unsafe fopen(receipts, "w") else { throw unwritable(receipts) }
    for number in 0..<count {
      let line = Array(try signer.sign(.transaction(Samples.transaction(number, at: now))).utf8) + [0x0A]
      guard unsafe fwrite(line, 1, line.count, file) == line.count else { throw unwritable(receipts) }
      if number.isMultiple(of: 10_000) { progress("receipt \(number) of \(count)") }
    }
    guard unsafe fclose(file) == 0 else { throw unwritable(receipts) }
    progress("")
  }

  private static func store(_ bytes: [UInt8], to path: String) throws {
    guard let file = unsafe fopen(path, "w") else { throw unwritable(path) }
    let written = unsafe fwrite(bytes, 1, bytes.count, file)
    guard unsafe fclose(file) == 0, written == bytes.count else { throw unwritable(path) }
  }

  private static func unwritable(_ path: String) -> Failure { Failure("\(path) could not be written.") }

  private static func contents(of path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    while true {
      let part = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
        unsafe count = fread(buffer.baseAddress, 1, buffer.count, file)
      }
      guard !part.isEmpty else { return bytes }
      bytes += part
    }
  }

  // MARK: - What is measured

  private static func rawSubjects(_ samples: Samples) throws -> [Subject] {
    let message = Array("message".utf8)
    let digest = Digest.hash(message, using: .sha256)
    let ellipticKey = samples.elliptic.privateKey
    let ellipticSignature = try ellipticKey.signature(for: message, using: .ecdsa(.sha256))
    let ellipticPublic = ellipticKey.publicKey
    let rsaKey = samples.rsa.privateKey
    let rsaSignature = try rsaKey.signature(for: message, using: .rsaPKCS1v15(.sha256))
    let rsaPublic = rsaKey.publicKey
    return [
      Subject(name: "raw P-256 verify", reference: nil, threads: 1) {
        repeated(16) {
          (try? ellipticPublic.isValidSignature(
            ellipticSignature.span, forDigest: digest.span, using: .ecdsa(.sha256))) == true
        }
      },
      Subject(name: "raw RSA-2048 verify", reference: nil, threads: 1) {
        repeated(16) {
          (try? rsaPublic.isValidSignature(
            rsaSignature.span, forDigest: digest.span, using: .rsaPKCS1v15(.sha256))) == true
        }
      },
      Subject(name: "raw RSA-2048 verify, \(cores) cores", reference: nil, threads: cores) {
        repeated(16) {
          (try? rsaPublic.isValidSignature(
            rsaSignature.span, forDigest: digest.span, using: .rsaPKCS1v15(.sha256))) == true
        }
      },
      Subject(name: "raw P-256 sign", reference: nil, threads: 1) {
        repeated(16) { (try? ellipticKey.signature(for: message, using: .ecdsa(.sha256))) != nil }
      },
      Subject(name: "raw RSA-2048 sign", reference: nil, threads: 1) {
        repeated(4) { (try? rsaKey.signature(for: message, using: .rsaPKCS1v15(.sha256))) != nil }
      },
    ]
      + samples.appReceipts.map { name, der in
        Subject(name: "CMS_verify, \(name)", reference: nil, threads: 1) {
          repeated(4) { CMSReference.verify(der) != nil }
        }
      }
  }

  private static let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  private static func verificationSubjects(_ samples: Samples) -> [Subject] {
    let repeatedly = { [[UInt8]](repeating: $0, count: Samples.count) }
    var receipts: [(name: String, bytes: [[UInt8]], reference: String)] = samples.jws.map {
      ($0.name, $0.compact, "raw P-256 verify")
    }
    receipts += samples.appReceipts.map { ($0.name, repeatedly($0.der), "CMS_verify, \($0.name)") }
    receipts.append(("transaction receipt", repeatedly(samples.transactionReceipt), "raw RSA-2048 verify"))
    receipts.append(("Google Play purchase", repeatedly(samples.googlePlayPurchase), "raw RSA-2048 verify"))
    var subjects: [Subject] = []
    for (name, together, reference) in receipts {
      let bytes = together[0]
      let warm = samples.freshVerifier()
      requireValid(warm.verify(bytes), name)
      // Enough for whatever a verifier prepares for signers that it meets often.
      for _ in 0..<1_000 { _ = warm.verify(bytes) }
      subjects.append(
        Subject(name: "verify \(name), cold", reference: reference, threads: 1) {
          repeated(1) { samples.freshVerifier().verify(bytes).receipt != nil }
        })
      subjects.append(
        Subject(name: "verify \(name), warm", reference: reference, threads: 1) {
          together.count { warm.verify($0).receipt != nil }
        })
      subjects.append(
        Subject(name: "verify \(name), batch", reference: reference, threads: 1) {
          warm.verifyTogether(together[...]).count { $0.receipt != nil }
        })
      if cores > 1 {
        subjects.append(
          Subject(name: "verify \(name), batch, \(cores) cores", reference: reference, threads: cores) {
            warm.verifyTogether(together[...]).count { $0.receipt != nil }
          })
        subjects.append(
          Subject(name: "verify \(name), warm, \(cores) cores", reference: reference, threads: cores) {
            together.count { warm.verify($0).receipt != nil }
          })
      }
    }
    return subjects
  }

  private static func signingSubjects(_ samples: Samples) throws -> [Subject] {
    let jwsSigner = try JWSSigner(identity: samples.elliptic)
    let appReceiptSigner = try AppReceiptSigner(identity: samples.rsa)
    let payload = samples.jws[0].payload
    let appReceipt = try UnverifiedAppReceipt(parsing: samples.appReceipts[1].der).decoded().content
    return [
      Subject(name: "sign signed transaction", reference: "raw P-256 sign", threads: 1) {
        repeated(8) { (try? jwsSigner.sign(payload)) != nil }
      },
      Subject(name: "sign app receipt, 4 purchases", reference: "raw RSA-2048 sign", threads: 1) {
        repeated(2) { (try? appReceiptSigner.sign(appReceipt, deviceIdentifier: nil)) != nil }
      },
    ]
  }

  // MARK: - Reports

  private static func report(_ subjects: [Subject], _ measurements: [Measurement]) {
    print(padded("operations a second, median of rounds", 56) + "     1/s   to reference")
    for (subject, measurement) in zip(subjects, measurements) {
      var line = padded(measurement.name, 52) + leftPadded("\(Int(measurement.median))", 12)
      if let reference = subject.reference,
        let index = measurements.firstIndex(where: { $0.name == reference })
      {
        let ratios = zip(measurement.rates, measurements[index].rates).map { $0 / $1 }.sorted()
        let median = ratios[ratios.count / 2]
        line += "   \(rounded(median, decimals: 2)) × \(reference)"
      }
      print(line)
    }
    let cores = subjects.map(\.threads).max() ?? 1
    for (subject, measurement) in zip(subjects, measurements) where subject.threads > 1 {
      let alone = String(subject.name.dropLast(", \(cores) cores".count))
      guard let index = measurements.firstIndex(where: { $0.name == alone }) else { continue }
      let ratio = measurement.median / measurements[index].median
      let figure = leftPadded(rounded(ratio, decimals: 2), 12)
      print("\(cores) cores against one, " + padded(alone, 52 - 20) + figure + " ×")
    }
  }

  private static func reportAllocations(_ samples: Samples) {
    var receipts = samples.jws.map { ($0.name, $0.compact[0]) }
    receipts += samples.appReceipts.map { ($0.name, $0.der) }
    receipts.append(("transaction receipt", samples.transactionReceipt))
    receipts.append(("Google Play purchase", samples.googlePlayPurchase))
    print("\nallocations a receipt, warm, libcrypto's included")
    for (name, bytes) in receipts {
      let verifier = samples.freshVerifier()
      for _ in 0..<1_000 { _ = verifier.verify(bytes) }
      usleep(100_000)
      let before = AllocationCounter_count()
      for _ in 0..<100 { _ = verifier.verify(bytes) }
      print(padded("verify \(name)", 52) + leftPadded("\((AllocationCounter_count() - before) / 100)", 12))
    }
  }

  private static func reportMemory(_ samples: Samples) {
    let count = 100
    var verifiers: [ReceiptVerifier] = []
    verifiers.reserveCapacity(count)
    let before = residentByteCount()
    for _ in 0..<count {
      let verifier = samples.freshVerifier()
      _ = verifier.verify(samples.jws[0].compact[0])
      verifiers.append(verifier)
    }
    let after = residentByteCount()
    print("\nmemory of a verifier that knows one signer: \((after - before) / count / 1024) KiB")
    for verifier in verifiers { for _ in 0..<1_000 { _ = verifier.verify(samples.jws[0].compact[0]) } }
    usleep(3_000_000)
    let withTables = residentByteCount()
    print("the same with a table of the signer's key: \((withTables - before) / count / 1024) KiB")
    withExtendedLifetime(verifiers) {}
  }

  private static func requireValid(_ verdict: Verdict, _ name: String) {
    guard verdict.receipt == nil else { return }
    print("The sample \(name) does not verify: \(verdict.reason?.description ?? "")")
    exit(70)
  }

  private static func repeated(_ count: Int, _ body: () -> Bool) -> Int {
    var done = 0
    for _ in 0..<count where body() { done += 1 }
    return done
  }

  /// Files for peers in other languages, so that all verify the same receipt.
  private static func export(_ samples: Samples, to directory: String) throws {
    try store(samples.elliptic.chain.last?.der ?? [], to: "\(directory)/root.cer")
    try store(samples.jws[0].compact[0], to: "\(directory)/transaction.jws")
  }

  private static func progress(_ text: String) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    let line = Array("\r\u{1B}[K\(text)".utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func leftPadded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
