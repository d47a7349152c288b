package admission

import (
	"fmt"

	"recrawl/internal/crawl"
)

// Words says the reason for a bound in plain words; for another package's reason it
// returns its text, or its code.
func Words(r crawl.Reason) string {
	switch r.Code {
	case CodeStart:
		return "to begin with"
	case CodeGrew:
		return fmt.Sprintf("tasks wait only %s for a worker, so there may be more than the %g of before", seconds(r.Num["wait"]), r.Num["from"])
	case CodeShrank:
		return fmt.Sprintf("tasks wait %s for a worker", seconds(r.Num["wait"]))
	}
	if r.Text != "" {
		return r.Text
	}
	return r.Code
}

func seconds(s float64) string {
	if s >= 10 {
		return fmt.Sprintf("%.0f s", s)
	}
	return fmt.Sprintf("%.1f s", s)
}
