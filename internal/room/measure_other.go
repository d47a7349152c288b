//go:build !(linux || darwin || freebsd)

package room

import "errors"

// Measure is not supported here: a full disk is noticed when it is written to.
func Measure(string) (Space, error) { return Space{}, errors.ErrUnsupported }
