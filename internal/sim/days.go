package sim

import "time"

const day = 24 * time.Hour

// epoch is when worlds start, for code that asks for a date.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func duration(days float64) time.Duration { return time.Duration(days * float64(day)) }

func days(d time.Duration) float64 { return float64(d) / float64(day) }
