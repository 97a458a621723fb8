"""Feature tables of any kind as matrices: categorical columns, query ids among features, hashes of rows."""
