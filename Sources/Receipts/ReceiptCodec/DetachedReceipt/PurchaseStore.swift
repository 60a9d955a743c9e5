// SPDX-License-Identifier: Apache-2.0

/// A store that signs an app's purchases with a key of that app, without certificates.
///
/// The raw values are the names that `receipt-tool` prints.
public enum PurchaseStore: String, Sendable, Hashable, CaseIterable {
  /// Google Play: RSA PKCS#1 v1.5 with SHA-1, for purchases and for licence responses.
  case googlePlay = "google-play"
  /// Huawei AppGallery: RSA with SHA-256, PKCS#1 v1.5 or PSS.
  case huawei

  package var displayName: String {
    switch self {
    case .googlePlay: "Google Play"
    case .huawei: "Huawei AppGallery"
    }
  }

  package var defaultAlgorithm: DetachedAlgorithm {
    switch self {
    case .googlePlay: .sha1WithRSA
    case .huawei: .sha256WithRSA
    }
  }
}

/// A signature algorithm of a detached receipt, with the name that Java and Huawei use.
package enum DetachedAlgorithm: String, Sendable, Hashable, CaseIterable {
  case sha1WithRSA = "SHA1withRSA"
  case sha256WithRSA = "SHA256withRSA"
  case sha256WithRSAPSS = "SHA256withRSA/PSS"

  /// Creates an algorithm from its name, ignoring case.
  package init?(named name: String) {
    let lowercased = name.lowercased()
    guard let found = Self.allCases.first(where: { $0.rawValue.lowercased() == lowercased }) else {
      return nil
    }
    self = found
  }
}
