// A shared object that is no PJRT plugin.
int NotAPlugin(void) { return 1; }
