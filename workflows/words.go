package workflows

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// maxSummary: Temporal takes 400 bytes as JSON; the UI shows about 120.
	maxSummary = 200
	// maxTimerSummary is the most of a timer's summary that the UI shows; of a longer one it
	// leaves out the beginning, which says what the timer is for.
	maxTimerSummary = 60
	// maxCell is how long a cell of the details may be: the UI breaks no line of a table.
	maxCell = 100
	// maxWords bounds every text in a workflow's state.
	maxWords = 200
)

// clip cuts a text to at most limit bytes, on a rune boundary.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// roughly prints a duration in its two largest units ("3d 4h", "1m 30s").
func roughly(d time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.size {
			continue
		}
		text := fmt.Sprintf("%d%s", d/u.size, u.name)
		if i+1 < len(units) {
			if rest := d % u.size / units[i+1].size; rest > 0 {
				text += fmt.Sprintf(" %d%s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "under a second"
}

// clock prints a time for people.
func clock(t time.Time) string {
	if t.IsZero() {
		return "now"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// inCell replaces characters that have a meaning in a Markdown table. It is made once:
// details are written at every step of every page.
var inCell = strings.NewReplacer("|", "\\|", "<", "&lt;", "`", "'")

// cell makes a text safe for a Markdown table cell.
func cell(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	return inCell.Replace(clip(text, maxCell))
}
