// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `receipt-tool notifications`: reads notifications of the App Store.
struct NotificationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notifications", abstract: "Show the meaning of notifications of the App Store.",
    discussion: "receipt-server receives notifications of the App Store and of Google Play.",
    subcommands: [NotificationsFoldCommand.self])
}
