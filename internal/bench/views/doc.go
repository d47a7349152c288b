// Package views measures how long the page for operators takes with a million pages in the
// store; see its benchmark.
package views
