// Package reader makes events of the feed's changes: it joins them with their pages and
// versions in the store, and compares texts from the archive on request. Commands, sinks
// and exports read the feed through it.
package reader
