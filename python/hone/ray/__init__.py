"""Workers on the nodes of a Ray cluster, for `hone … --workers ray:…`."""
