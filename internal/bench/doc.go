// Package bench has the common parts of benchmarks of running programs: the processor time
// of processes, programs that end with their benchmark, a site on loopback, medians, and
// tables.
//
// Benchmarks run the built programs, as internal/e2e does. They judge nothing: they print
// figures. They need Linux, whose /proc reports the resources of a process.
package bench
