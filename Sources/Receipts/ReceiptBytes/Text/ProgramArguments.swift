// SPDX-License-Identifier: Apache-2.0

package enum ProgramArguments {
  /// A description of the first argument that is not UTF-8; `nil` if all are. `CommandLine.arguments` replaces invalid
  /// UTF-8 with U+FFFD. The program would then read or write a file with a different name.
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
