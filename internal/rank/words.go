package rank

import (
	"fmt"
	"time"

	"recrawl/internal/crawl"
)

// Words words a reason of this package for people; "" for another's.
func Words(r crawl.Reason) string {
	switch r.Code {
	case CodeOff:
		return "rank.every is 0"
	case CodeNoLinks:
		return "no links are known yet"
	case CodeFirst:
		return "there are no ranks yet"
	case CodeAge:
		return "the ranks are " + age(r) + " old"
	case CodeGrown:
		return fmt.Sprintf("links have grown from %.0f to %.0f", r.Num["before"], r.Num["links"])
	case CodeFresh:
		return "the ranks are only " + age(r) + " old"
	case CodeAsked:
		return "a person asked"
	case CodeBetter:
		return fmt.Sprintf("a page worth %.2f took the place of one worth %.2f", r.Num["in"], r.Num["out"])
	case CodeSurplus:
		return fmt.Sprintf("more pages than max_pages; this one is worth %.2f", r.Num["out"])
	case CodeReturn:
		return fmt.Sprintf("there is room again for a page worth %.2f", r.Num["in"])
	}
	return ""
}

func age(r crawl.Reason) string {
	return crawl.FormatDuration((time.Duration(r.Num["age"]) * time.Second).Round(time.Second))
}
