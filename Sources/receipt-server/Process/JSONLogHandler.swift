// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import Logging
  import ReceiptCodec
  import ReceiptVerification

  /// Logs an object a line to standard error.
  struct JSONLogHandler: LogHandler {
    let label: String
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider? = LoggingSystem.metadataProvider

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      var object = JSONWriter()
      object.beginObject()
      object.member("time", SystemClock.now())
      object.member("level", event.level.rawValue)
      object.member("message", event.message.description)
      let all = metadata.merging(metadataProvider?.get() ?? [:]) { own, _ in own }
        .merging(event.metadata ?? [:]) { _, own in own }
      for (name, value) in all.sorted(by: { $0.key < $1.key }) { object.member(name, value.description) }
      object.endObject()
      FileHandle.standardError.write(Data(object.bytes + [0x0A]))
    }
  }
#endif
