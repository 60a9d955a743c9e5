// SPDX-License-Identifier: Apache-2.0

#if Server
  package import ReceiptCodec

  extension EntitlementChange: JSONWritable {
    /// The columns of the table `changes` that a change is read from.
    static let columns = ["sequence", "id", "app", "name", "customer", "time", "type", "body"]
      .map { "changes.\($0)" }.joined(separator: ", ")

    init(_ row: DatabaseRow) {
      self.init(
        sequence: row.integer(0), id: row.text(1), app: row.text(2), name: row.text(3),
        customer: row.optionalText(4), time: Timestamp(milliseconds: row.integer(5)), type: row.text(6),
        body: row.bytes(7))
    }

    /// Writes an object with the sequence, the identifier and the reported JSON.
    package func write(to object: inout JSONWriter) {
      object.beginObject()
      object.member("sequence", sequence)
      object.member("id", id)
      object.name("change")
      object.value((try? JSONValue(parsing: body)) ?? .null)
      object.endObject()
    }
  }

  extension Timestamp {
    init(milliseconds: Int64) { self.init(millisecondsSince1970: Double(milliseconds)) }

    /// The milliseconds since 1970, rounded down; 0 if they cannot be represented.
    var milliseconds: Int64 { Int64(exactly: millisecondsSince1970.rounded(.down)) ?? 0 }
  }
#endif
