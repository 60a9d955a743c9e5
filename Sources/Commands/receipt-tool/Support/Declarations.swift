// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

// Options, flags and arguments as the commands declare them: the long name, the help, the placeholder of the value and a
// discussion.

extension Option {
  init<T: ExpressibleByArgument>(
    _ name: String, _ help: String, value: String? = nil, discussion: String? = nil
  ) where Value == T? {
    self.init(name: .customLong(name), help: ArgumentHelp(help, discussion: discussion, valueName: value))
  }

  init<T: ExpressibleByArgument>(
    wrappedValue: [T], _ name: String, _ help: String, value: String? = nil, discussion: String? = nil
  ) where Value == [T] {
    self.init(
      wrappedValue: wrappedValue, name: .customLong(name),
      help: ArgumentHelp(help, discussion: discussion, valueName: value))
  }
}

extension Option where Value: ExpressibleByArgument {
  init(_ name: String, _ help: String, value: String? = nil) {
    self.init(name: .customLong(name), help: ArgumentHelp(help, valueName: value))
  }

  init(wrappedValue: Value, _ name: String, _ help: String, value: String? = nil, discussion: String? = nil) {
    self.init(
      wrappedValue: wrappedValue, name: .customLong(name),
      help: ArgumentHelp(help, discussion: discussion, valueName: value))
  }
}

extension Flag where Value == Bool {
  init(wrappedValue: Bool, _ name: String, _ help: String, discussion: String? = nil) {
    self.init(
      wrappedValue: wrappedValue, name: .customLong(name), help: ArgumentHelp(help, discussion: discussion))
  }
}

extension Argument {
  init(_ help: String, value: String? = nil) where Value: ExpressibleByArgument {
    self.init(help: ArgumentHelp(help, valueName: value))
  }

  init<T: ExpressibleByArgument>(_ help: String, value: String) where Value == T? {
    self.init(help: ArgumentHelp(help, valueName: value))
  }

  init<T: ExpressibleByArgument>(_ help: String, value: String) where Value == [T] {
    self.init(help: ArgumentHelp(help, valueName: value))
  }

  init<T: ExpressibleByArgument>(wrappedValue: [T], _ help: String, value: String) where Value == [T] {
    self.init(wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: value))
  }
}
