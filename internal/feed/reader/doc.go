// Package reader makes events of the feed's changes: it joins them with what the store knows
// of their pages and versions, and compares texts from the archive where somebody asks for
// it. Commands, sinks and exports read the feed through it.
package reader
