// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  extension ServerConnection {
    /// Creates the schema of the location if it does not exist.
    ///
    /// - Returns: `false` if it is in use by something else.
    package func createEmptySchema() throws(Failure) -> Bool {
      // If the schema exists, the user does not need permission to create one.
      if try execute("SELECT to_regnamespace('\(location.schema)')::text").text(0, 0).isEmpty {
        try execute("CREATE SCHEMA \(location.schema)")
      }
      return try isSchemaEmpty()
    }

    /// Indicates whether there is nothing in the schema of the location, or no such schema.
    package func isSchemaEmpty() throws(Failure) -> Bool {
      try execute(
        "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('\(location.schema)')"
      ).text(0, 0) == "0"
    }
  }
#endif
