"""Why a document is where it is."""
