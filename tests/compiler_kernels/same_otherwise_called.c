extern double table[];
double a_kernel_with_a_longer_name(double x) { return 3 * x + table[2]; }
