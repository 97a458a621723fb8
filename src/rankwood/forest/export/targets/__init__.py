"""Writers, a module per target program."""
