// Package bench has what all benchmarks of running programs share: the processor time
// of processes, programs that end with their benchmark, a site on loopback, medians,
// and tables.
//
// Benchmarks run the built programs, as internal/e2e does. They judge nothing: they
// print figures. They need Linux, whose /proc tells what a process has used.
package bench
