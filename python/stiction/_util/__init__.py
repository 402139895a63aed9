"""What all rooms of the package use and no user imports: text for terminals, files that are written whole, the nearest of
known names, Ctrl-C, the machine, what installs an extra."""
