//go:build !counts

package sqlstore

// observed is the engine itself. Programs built with the tag counts count the store's
// use of it; see counting.go.
func observed(e Engine) Engine { return e }
