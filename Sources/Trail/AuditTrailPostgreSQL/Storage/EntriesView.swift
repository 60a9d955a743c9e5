// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail

  /// The entries of a trail as columns, for SQL.
  ///
  /// There is the view `entries`, and the function `entries(first, last)`, which reads only the bundles of a range of
  /// indexes.
  ///
  /// They decode the rows that ``BundleRow`` and ``TailRow`` encode, and return the stored data without verification.
  /// The function is a single statement without settings of its own, so that the server inlines it into the query and
  /// computes only the requested columns. No content of an entry makes them fail: instants beyond the server's range
  /// are infinite, numbers have the type `numeric`, and U+0000, which PostgreSQL text cannot hold, remains `%00`.
  enum EntriesView {
    static func creation(in schema: String) -> String {
      let columns = EntryField.allCases.map { $0.column(in: schema) }
      return """
        CREATE FUNCTION \(schema).decoded(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
          SELECT string_agg(
            CASE WHEN number = 1 THEN part WHEN left(part, 2) = '00' THEN '%' || part
            ELSE chr(('x' || left(part, 2))::bit(8)::integer) || substr(part, 3) END, '' ORDER BY number)
          FROM unnest(string_to_array(value, '%')) WITH ORDINALITY AS parts (part, number)
        $$;
        CREATE FUNCTION \(schema).instant(milliseconds text) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
          SELECT CASE WHEN milliseconds::bigint < -210866803200000 THEN '-infinity'
          WHEN milliseconds::bigint >= 9224318016000000 THEN 'infinity'
          ELSE to_timestamp(milliseconds::bigint / 1000.0) END
        $$;
        CREATE FUNCTION \(schema).entries(first bigint, last bigint) RETURNS TABLE (
          index bigint, \(columns.map(\.declaration).joined(separator: ", ")), entry text
        ) LANGUAGE sql STABLE ROWS 1000 AS $$
          SELECT stored.index, \(columns.map(\.value).joined(separator: ", ")),
            convert_from(bytes, 'UTF8')
          FROM (
            SELECT key * \(BundleRow.entryCount) + position AS index,
              substring(value FROM \(BundleRow.headerByteCount + 1) + place.start FOR
                get_byte(lengths, 2 * position) * 256 + get_byte(lengths, 2 * position + 1)) AS bytes
            FROM \(schema).bundles CROSS JOIN generate_series(0, \(BundleRow.entryCount - 1)) AS position
            CROSS JOIN LATERAL substring(value FROM \(BundleRow.lengthsRange.lowerBound + 1)
              FOR \(2 * BundleRow.entryCount)) AS lengths
            CROSS JOIN LATERAL (
              SELECT coalesce(sum(get_byte(lengths, 2 * i) * 256 + get_byte(lengths, 2 * i + 1)), 0)::integer AS start
              FROM generate_series(0, position - 1) AS i) AS place
            WHERE key BETWEEN first >> 8 AND last >> 8
            UNION ALL
            SELECT key, substring(value FROM \(TailRow.entryOffset + 1)
              FOR ('x' || encode(substring(value FROM 2 FOR 4), 'hex'))::bit(32)::integer)
            FROM \(schema).tail WHERE key BETWEEN first AND last
          ) AS stored CROSS JOIN LATERAL (
            SELECT jsonb_object_agg(name, CASE WHEN strpos(value, '%') = 0 THEN value ELSE \(schema).decoded(value) END) AS f,
              jsonb_agg(
                jsonb_build_object('name', \(schema).decoded(split_part(value, ' ', 1)),
                  'answer', \(schema).decoded(split_part(value, ' ', 2)))
                ORDER BY number) FILTER (WHERE name = 'check') AS checks
            FROM unnest(string_to_array(convert_from(bytes, 'UTF8'), chr(10))) WITH ORDINALITY AS lines (line, number)
            CROSS JOIN LATERAL (SELECT split_part(line, ' ', 1), substr(line, strpos(line, ' ') + 1))
              AS pair (name, value)
          ) AS fields
          WHERE stored.index BETWEEN first AND last
        $$;
        CREATE VIEW \(schema).entries AS SELECT * FROM \(schema).entries(0, 9223372036854775807);
        COMMENT ON VIEW \(schema).entries IS
          'What is stored of the entries, unverified: a role that can write to the tables can alter it. For a page call the function entries(first, last).';
        COMMENT ON FUNCTION \(schema).entries(bigint, bigint) IS
          'What is stored of the entries with these indexes, first and last included, unverified.';
        """
    }
  }

  extension EntryField {
    /// The column with its type, and its value, of the texts `f` of an entry by their keys. The name is quoted, because
    /// it may be a word of SQL.
    fileprivate func column(in schema: String) -> (declaration: String, value: String) {
      let text = "f ->> '\(rawValue)'"
      let (type, value) =
        switch form {
        case .text: ("text", text)
        case .instant: ("timestamptz", "\(schema).instant(\(text))")
        case .digest: ("bytea", "decode(\(text), 'base64')")
        case .number, .index: ("numeric", "(\(text))::numeric")
        case .checks: ("jsonb", "fields.checks")
        }
      return ("\"\(rawValue)\" \(type)", value)
    }
  }
#endif
