// SPDX-License-Identifier: Apache-2.0

/// The arguments of the program, as the system passes them.
package enum ProgramArguments {
  /// The fault of the arguments; `nil` if they can be used.
  ///
  /// `CommandLine.arguments` replaces bytes that are not UTF-8 by U+FFFD. A file of another name would then be read or
  /// written.
  package static var fault: String? {
    for position in 0..<Int(CommandLine.argc) {
      guard let argument = unsafe CommandLine.unsafeArgv[position] else { break }
      if unsafe String(validatingCString: argument) == nil {
        return "argument \(position) is not UTF-8; rename the file, or give a link to it whose name is UTF-8"
      }
    }
    return nil
  }
}
