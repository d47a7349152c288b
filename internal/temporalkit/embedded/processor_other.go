//go:build !linux

package embedded

import (
	"errors"
	"time"
)

// processorTime is not known here.
func processorTime(int) (time.Duration, error) { return 0, errors.ErrUnsupported }
