// Package search measures the search index: its size, and how long it takes to fill and to ask
// it.
package search
