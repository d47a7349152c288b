package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"recrawl/internal/crawl"
)

// Budget is the number of visits that may be made: a number a day, or a number a day for
// each living page.
type Budget struct {
	PerDay float64 // visits a day, or
	Each   float64 // visits a day and page
}

// visits returns the visits a day for a number of pages.
func (b Budget) visits(pages int) float64 { return b.PerDay + b.Each*float64(pages) }

// ParseBudget reads a number of visits per time ("10000/day", "500/h"), or per
// page and time ("0.1/page/day", "1/page/hour").
func ParseBudget(text string) (Budget, error) {
	bad := fmt.Errorf("%q is not a budget: write visits per time, such as 10000/day, or for each page, such as 0.1/page/day", text)
	number, per, each := strings.Cut(text, "/page/")
	if !each {
		perDay, err := crawl.ParseBudget(text)
		if err != nil {
			return Budget{}, bad
		}
		return Budget{PerDay: perDay}, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n > 0) || math.IsInf(n, 1) {
		return Budget{}, bad
	}
	// One visit per time is a budget of its own, in the units of specs.
	perDay, err := crawl.ParseBudget("1/" + per)
	if err != nil {
		return Budget{}, bad
	}
	return Budget{Each: n * perDay}, nil
}

// String writes the budget so that ParseBudget reads it.
func (b Budget) String() string {
	if b.Each > 0 {
		return strconv.FormatFloat(b.Each, 'g', 4, 64) + "/page/day"
	}
	return strconv.FormatFloat(b.PerDay, 'g', 6, 64) + "/day"
}
