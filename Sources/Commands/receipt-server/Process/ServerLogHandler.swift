// SPDX-License-Identifier: Apache-2.0

#if Server
  import Logging
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptVerification

  /// Logs one line for each event: a JSON object or text.
  ///
  /// In text, untrusted values can neither end the line nor control a terminal.
  struct ServerLogHandler: LogHandler {
    let label: String
    let writesJSON: Bool
    let output: LogOutput
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider? = LoggingSystem.metadataProvider

    init(label: String, writesJSON: Bool, output: LogOutput) {
      self.label = label
      self.writesJSON = writesJSON
      self.output = output
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      var fields = metadata
      if let provided = metadataProvider?.get() { fields.merge(provided) { own, _ in own } }
      if let own = event.metadata { fields.merge(own) { _, own in own } }
      output.append(
        Self.line(
          event.level, event.message.description,
          fields.map { ($0, $1.description) }.sorted { $0.0 < $1.0 }, label: label, writesJSON: writesJSON))
    }

    /// Formats a line, without its line feed.
    static func line(
      _ level: Logger.Level, _ message: String, _ fields: [(name: String, value: String)], label: String,
      writesJSON: Bool
    ) -> [UInt8] {
      let now = SystemClock.now()
      guard writesJSON else {
        var text = "\(now.iso8601) \(level) \(label):"
        for (name, value) in fields { text += " \(ShownText.plain(name))=\(ShownText.plain(value))" }
        return Array((text + " \(ShownText.plain(message))").utf8)
      }
      var object = JSONWriter()
      object.beginObject()
      object.member("time", now)
      object.member("level", level.rawValue)
      object.member("message", message)
      for (name, value) in fields { object.member(name, value) }
      object.endObject()
      return object.bytes
    }
  }
#endif
