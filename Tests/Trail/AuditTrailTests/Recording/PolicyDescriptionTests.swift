// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Testing

@Suite struct PolicyDescriptionTests {
  private let policy = VerificationPolicy(
    bundleIds: .oneOf(["com.example.app"]), environments: [.sandbox, .production])

  @Test func theExampleIsWhatTheDocumentationShows() {
    let text = """
      receiptkit.dev/verification-policy@v1
      bundle-rule one-of
      bundle com.example.app
      environment production
      environment sandbox
      kind app-receipt
      kind google-play-license
      kind google-play-purchase
      kind huawei-purchase
      kind signed-app-transaction
      kind signed-notification
      kind signed-realtime-request
      kind signed-renewal-info
      kind signed-transaction
      kind transaction-receipt
      time at-signing
      clock-skew 60
      marker 1.2.840.113635.100.6.11.1,1.2.840.113635.100.6.2.1
      marker 1.2.840.113635.100.6.5.1,1.2.840.113635.100.6.2.2
      algorithm ES256
      algorithm RSA-PSS-SHA256
      algorithm RSA-SHA1
      algorithm RSA-SHA256
      self-signed refused
      claimed-environment insufficient
      offline insufficient

      """
    #expect(PolicyDescription(policy).text == text)
    #expect(SHA256Digest(of: policy) == SHA256Digest(of: Array(text.utf8)))
  }

  @Test func everyDemandMakesAnotherDigest() {
    let changes: [(inout VerificationPolicy) -> Void] = [
      { _ in },
      { $0.bundleIds = .any },
      { $0.bundleIds = .oneOf([]) },
      { $0.bundleIds = .oneOf(["com.example.app", "com.example.other"]) },
      { $0.bundleIds = .oneOf(["com.example.app\nenvironment sandbox"]) },
      { $0.appAppleId = 1 },
      { $0.environments = [] },
      { $0.kinds = [.appReceipt] },
      { $0.timeRule = .now },
      { $0.timeRule = .at(Timestamp(millisecondsSince1970: 0)) },
      { $0.timeRule = .at(Timestamp(millisecondsSince1970: 0.5)) },
      { $0.maximumAge = 0 },
      { $0.maximumAge = .infinity },
      { $0.allowedClockSkew = 60.5 },
      { $0.markers = [] },
      { $0.deviceIdentifier = [1] },
      { $0.appKeys = (try? TestReceipts.appKeys()) ?? [] },
      { $0.admitsShortKeys = true },
      { $0.algorithms = [.es256] },
      { $0.selfSignedTesting = .pinned([]) },
      { $0.selfSignedTesting = .pinned([[1]]) },
      { $0.acceptsClaimedEnvironment = true },
      { $0.offlineRule = .sufficient },
      { $0.offlineRule = .sufficientWithout([]) },
      { $0.offlineRule = .sufficientWithout(["app-store"]) },
    ]
    let texts = changes.map { change in
      var changed = policy
      change(&changed)
      return PolicyDescription(changed).text
    }
    #expect(Set(texts).count == changes.count)
  }

  @Test func whichDeviceIsNotSaid() {
    var (one, other) = (policy, policy)
    one.deviceIdentifier = [1]
    other.deviceIdentifier = [2]
    #expect(SHA256Digest(of: one) == SHA256Digest(of: other))
  }
}
