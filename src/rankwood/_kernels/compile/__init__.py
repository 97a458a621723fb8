"""How functions are compiled, and where compiled code is stored."""
