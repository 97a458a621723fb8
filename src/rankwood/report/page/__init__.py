"""The report page: one HTML file about one model or several, which needs no other file and no network."""
