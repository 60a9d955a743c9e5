// SPDX-License-Identifier: Apache-2.0

extension PurchaseStore {
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
