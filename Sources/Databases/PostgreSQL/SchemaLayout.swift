// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import ReceiptBytes

  extension SchemaLayout {
    /// Describes an object that is missing, altered or unknown, and the remedy; `nil` if the layout is as expected.
    package func fault<Failure>(
      in schema: String, on connection: ServerConnection<Failure>
    ) throws(Failure) -> String? {
      let found = try connection.execute(query(schema))
      var missing = expected
      for row in 0..<found.rowCount {
        let (object, definition) = (found.text(row, 0), found.text(row, 1))
        let shown = "\(ShownText.plain(object, limit: 160)) in the schema \(schema)"
        guard let wanted = missing.removeValue(forKey: object) else {
          return
            "There is the \(shown), which is not of the layout: somebody added it, and it may copy or change what is "
            + "stored. Find out who did, remove it or restore a backup, then try again."
        }
        guard definition == wanted else {
          return
            "The \(shown) is not the one of the layout, somebody altered it: it is \(ShownText.plain(definition, limit: 160))"
            + ", not \(wanted). Restore a backup."
        }
      }
      return missing.keys.min().map { "The \($0) in the schema \(schema) is missing. Restore a backup." }
    }

    /// The query's result for an unaltered schema.
    private var expected: [String: String] {
      var expected: [String: String] = [:]
      for table in tables {
        expected["table \(table.name)"] = "a permanent table"
        for column in table.columns {
          expected["column \(column.name) of \(table.name)"] =
            column.type + (column.isNullable ? "" : " NOT NULL") + (column.isIdentity ? " IDENTITY" : "")
        }
        for index in table.indexes {
          expected["index \(index.name) of \(table.name)"] =
            "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(index.name) ON \(table.name) USING btree "
            + "(\(index.columns.joined(separator: ", ")))"
        }
      }
      return expected
    }

    /// The query that lists every object by name, with its properties that may differ.
    private func query(_ schema: String) -> String {
      let names = tables.map { "'\($0.name)'" }.joined(separator: ", ")
      // pg_get_indexdef's quotes are removed, so quoted and unquoted names look the same. Columns are therefore
      // listed as well.
      let attached = """
        WITH ours AS (
          SELECT oid, relname::text AS name, relkind, relpersistence, relrowsecurity OR relforcerowsecurity AS is_secured
          FROM pg_catalog.pg_class WHERE relnamespace = pg_catalog.to_regnamespace('\(schema)') AND relname IN (\(names))
        )
        SELECT 'table ' || name, CASE relpersistence WHEN 'p' THEN 'a permanent ' ELSE 'an unlogged ' END
          || CASE relkind WHEN 'r' THEN 'table' ELSE 'object of the kind ' || relkind::text END
          || CASE WHEN is_secured THEN ' with row level security' ELSE '' END FROM ours
        UNION ALL
        SELECT 'column ' || a.attname || ' of ' || o.name, pg_catalog.format_type(a.atttypid, a.atttypmod)
          || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
          || CASE WHEN a.attidentity <> '' THEN ' IDENTITY' ELSE '' END
          || CASE WHEN a.attgenerated <> '' THEN ' GENERATED' WHEN a.atthasdef THEN ' DEFAULT' ELSE '' END
          || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE' ELSE '' END
        FROM ours o JOIN pg_catalog.pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
        UNION ALL
        SELECT 'index ' || c.relname || ' of ' || o.name,
          replace(replace(pg_catalog.pg_get_indexdef(i.indexrelid), '"', ''), ' ON \(schema).', ' ON ')
        FROM ours o JOIN pg_catalog.pg_index i ON i.indrelid = o.oid JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
        """
      let objects = [
        ("trigger", "t.tgname", "of", "pg_trigger t ON t.tgrelid = o.oid AND NOT t.tgisinternal"),
        ("rule", "r.rulename", "of", "pg_rewrite r ON r.ev_class = o.oid"),
        ("row policy", "p.polname", "of", "pg_policy p ON p.polrelid = o.oid"),
        (
          "constraint", "c.conname", "of",
          "pg_constraint c ON c.conrelid = o.oid AND c.contype NOT IN ('p', 'u', 'n')"
        ),
        ("foreign key", "c.conname", "to", "pg_constraint c ON c.confrelid = o.oid AND c.conrelid <> o.oid"),
        ("inheriting table", "i.inhrelid::regclass::text", "of", "pg_inherits i ON i.inhparent = o.oid"),
        ("parent table", "i.inhparent::regclass::text", "of", "pg_inherits i ON i.inhrelid = o.oid"),
        ("statistics object", "s.stxname", "of", "pg_statistic_ext s ON s.stxrelid = o.oid"),
      ].map { kind, name, relation, table in
        """

        UNION ALL
        SELECT '\(kind) ' || \(name) || ' \(relation) ' || o.name, '' FROM ours o
        JOIN pg_catalog.\(table)
        """
      }
      let searched = [
        (
          "pg_proc",
          "'function ' || p.proname || '(' || pg_catalog.pg_get_function_identity_arguments(p.oid) || ')'",
          "p.pronamespace"
        ),
        ("pg_operator", "'operator ' || p.oprname", "p.oprnamespace"),
      ].map { table, name, namespace in
        """

        UNION ALL
        SELECT \(name), '' FROM pg_catalog.\(table) p WHERE \(namespace) = pg_catalog.to_regnamespace('\(schema)')
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d
          WHERE d.classid = 'pg_catalog.\(table)'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e')
        """
      }
      return attached + objects.joined() + (isSearched ? searched.joined() : "")
    }
  }

  extension SchemaLayout.Index {
    /// The index of a primary key, with the name that the server gives it.
    package static func primaryKey(_ columns: [String], of table: String) -> SchemaLayout.Index {
      SchemaLayout.Index("\(table)_pkey", on: columns, isUnique: true)
    }
  }
#endif
