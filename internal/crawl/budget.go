package crawl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// perDay is the number of times a day for each unit of a budget's time.
var perDay = map[string]float64{
	"day": 1, "d": 1, "hour": 24, "h": 24, "minute": 1440, "min": 1440, "m": 1440, "second": 86400, "sec": 86400, "s": 86400,
}

// ParseBudget reads a number of visits per time ("10000/day", "500/h") and
// returns visits a day: positive and finite.
func ParseBudget(text string) (float64, error) {
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	visits := n * perDay[strings.TrimSpace(unit)]
	if err != nil || !(visits > 0) || math.IsInf(visits, 1) {
		return 0, fmt.Errorf("%q is not a budget: write visits per time, such as 10000/day or 500/hour", text)
	}
	return visits, nil
}
