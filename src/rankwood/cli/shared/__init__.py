"""What several commands share: arguments, files, tables on a terminal, standard streams."""
