// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptCrypto

/// Turns bytes into a verdict: recognises the kind of receipt, checks signature and certificates against
/// trusted roots, then everything that the policy demands. It does no I/O.
///
/// ```swift
/// let verifier = ReceiptVerifier(
///   trust: .apple,
///   policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))
/// switch verifier.verify(receiptBytes) {
/// case .valid(let receipt): grant(receipt.transactions)
/// case .invalid(let receipt): log("refused", receipt.reason)
/// case .undetermined(let receipt): log("could not be checked", receipt.reason)
/// }
/// ```
///
/// One verifier may be used from any number of tasks and threads at once. Keep it: it remembers the signers it
/// has found good, which makes all but the first receipt of a signer cheap. Copies share that memory.
public struct ReceiptVerifier: Sendable {
  /// The roots that are trusted.
  public let trust: TrustAnchors
  /// What is demanded of a receipt.
  public let policy: VerificationPolicy
  /// Certificates of issuers that receipts do not embed: transaction receipts carry their leaf alone.
  public let intermediates: [Certificate]
  /// Bounds on size and nesting.
  public let limits: ReceiptLimits

  let clock: @Sendable () -> Timestamp
  let report: (@Sendable (VerificationDiagnostic) -> Void)?
  let knownSigners: KnownSigners

  /// Creates a verifier.
  ///
  /// - Parameters:
  ///   - trust: The roots that are trusted.
  ///   - policy: What is demanded of a receipt.
  ///   - intermediates: Certificates of issuers that receipts do not embed.
  ///   - limits: Bounds on size and nesting.
  ///   - clock: The current time; the system's clock by default.
  ///   - diagnostics: Called on the verifying thread for every decision, to explain it. `nil` by default.
  public init(
    trust: TrustAnchors, policy: VerificationPolicy, intermediates: [Certificate] = [],
    limits: ReceiptLimits = .standard,
    clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() },
    diagnostics: (@Sendable (VerificationDiagnostic) -> Void)? = nil
  ) {
    self.trust = trust
    self.policy = policy
    self.intermediates = intermediates
    self.limits = limits
    self.clock = clock
    self.report = diagnostics
    self.knownSigners = KnownSigners()
  }

  /// Verifies a receipt of any kind, in any of the wrappings that ``/ReceiptCodec/UnverifiedReceipt`` knows.
  public func verify(_ bytes: [UInt8]) -> Verdict {
    let receipt: UnverifiedReceipt
    do throws(MalformedReceipt) {
      receipt = try UnverifiedReceipt(parsing: bytes, limits: limits)
    } catch {
      return refuse(error)
    }
    return verify(receipt)
  }

  /// The verdict on bytes that are no receipt.
  func refuse(_ error: MalformedReceipt) -> Verdict {
    explain(.recognition, passed: false, error.description)
    let reason = Reason(error)
    explain(.verdict, passed: false, reason.description)
    return .invalid(InvalidReceipt(reason: reason, claimedKind: nil))
  }

  /// Verifies a receipt given as text: compact JWS, base64, property list or a JSON object that wraps one.
  public func verify(_ text: String) -> Verdict { verify(Array(text.utf8)) }

  /// Verifies a receipt that was parsed before.
  public func verify(_ receipt: UnverifiedReceipt) -> Verdict { verify(receipt, checked: nil) }

  /// `checked` is what is known already of the signer and signature of a JWS.
  func verify(_ receipt: UnverifiedReceipt, checked: CheckedSignature?) -> Verdict {
    var claimedKind: ReceiptKind?
    do throws(Objection) {
      let verified: VerifiedReceipt
      switch receipt {
      case .jws(let jws):
        explain(.recognition, passed: true, "a JWS")
        verified = try verifyJWS(jws, claimedKind: &claimedKind, checked: checked)
      case .appReceipt(let appReceipt):
        claimedKind = .appReceipt
        explain(.recognition, passed: true, "an app receipt")
        verified = try verifyAppReceipt(appReceipt)
      case .transactionReceipt(let transactionReceipt):
        claimedKind = .transactionReceipt
        explain(.recognition, passed: true, "a transaction receipt")
        verified = try verifyTransactionReceipt(transactionReceipt)
      }
      explain(.verdict, passed: true, "valid")
      return .valid(verified)
    } catch {
      explain(.verdict, passed: false, error.reason.description)
      return error.verdict(claimedKind: claimedKind)
    }
  }

  func explain(
    _ step: VerificationDiagnostic.Step, passed: Bool, _ message: @autoclosure () -> String
  ) {
    report?(VerificationDiagnostic(step: step, passed: passed, message: message()))
  }
}
