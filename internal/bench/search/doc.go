// Package search measures the search index: its size, and how long filling and querying it
// take.
package search
