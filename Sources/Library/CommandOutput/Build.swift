// SPDX-License-Identifier: Apache-2.0

internal import CBuild

/// The build of this process.
package enum Build {
  package static var commit: String? {
    let commit = unsafe String(cString: CBuild_commit())
    return commit.isEmpty ? nil : commit
  }

  package static var configuration: String {
    #if DEBUG
      "debug"
    #else
      CBuild_is_quickstart() ? "quickstart" : "release"
    #endif
  }

  package static var traits: [String] {
    var traits: [String] = []
    #if PostgreSQL
      traits.append("PostgreSQL")
    #endif
    #if SwiftNIO
      traits.append("SwiftNIO")
    #endif
    return traits
  }
}
