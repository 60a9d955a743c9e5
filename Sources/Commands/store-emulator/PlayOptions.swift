// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The options of Google Play.
struct PlayOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The app's package name at Google Play; by default its bundle identifier. Of several stores it is the first one's.",
      valueName: "name"))
  var playPackage: String?

  @Option(
    help: ArgumentHelp(
      "The key file of a service account whose assertions are accepted. A file that does not exist is written, with a "
        + "new account.", valueName: "file"))
  var playServiceAccount: String?

  @Option(
    name: .customLong("play-push-url"),
    help: ArgumentHelp(
      "Where Real-time Developer Notifications are pushed; by default nowhere.", valueName: "url"))
  var playPushURL: String?

  @Option(
    help: ArgumentHelp("The audience of push tokens; by default the push URL.", valueName: "text"))
  var playPushAudience: String?

  @Option(help: ArgumentHelp("The service account that push tokens name.", valueName: "email"))
  var playPushEmail: String?

  /// Indicates whether an option about pushes is given.
  var sendsPushes: Bool { playPushURL != nil || playPushAudience != nil || playPushEmail != nil }
}
