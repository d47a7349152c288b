package testsite

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"recrawl/internal/crawl"
)

// Words says what a page does, for people: "changes every 5 s; answers 304".
func (p Page) Words() string {
	if p.Redirect.Status != 0 {
		return fmt.Sprintf("redirects (%d) to %s", p.Redirect.Status, strings.TrimPrefix(p.Redirect.To, "//"))
	}
	parts := []string{p.changeWords()}
	if p.Decor.Rate.mean > 0 {
		parts = append(parts, fmt.Sprintf("its %s changes %s", p.Decor.Place, p.Decor.Rate.words()))
	}
	for _, t := range p.Troubles {
		parts = append(parts, t.words())
	}
	if p.Slow > 0 {
		parts = append(parts, "takes "+spell(p.Slow)+" to answer")
	}
	if p.Type != "" {
		parts = append(parts, "is "+p.Type)
	}
	if p.Size > 0 {
		parts = append(parts, "has "+crawl.Size(p.Size).String())
	}
	if p.ETag || p.LastModified {
		parts = append(parts, "answers 304 when unchanged")
	}
	return strings.Join(parts, "; ")
}

func (p Page) changeWords() string {
	switch {
	case p.Hub:
		return "gains a link to a new page " + p.Text.words()
	case p.Text.mean > 0 && p.Wordings > 0:
		return fmt.Sprintf("changes %s between %d texts", p.Text.words(), p.Wordings)
	case p.Text.mean > 0:
		return "changes " + p.Text.words()
	}
	return "never changes"
}

// Words says what a host as a whole does, for people.
func (h Host) Words() string {
	parts := []string{h.Robots.words()}
	for _, t := range h.Troubles {
		parts = append(parts, "every page "+t.words())
	}
	return strings.Join(parts, "; ")
}

func (r Robots) words() string {
	if r.Missing {
		return "no robots.txt (404)"
	}
	var parts []string
	if len(r.Disallow) > 0 {
		parts = append(parts, "forbids "+strings.Join(r.Disallow, " and "))
	}
	if r.CrawlDelay > 0 {
		parts = append(parts, "asks for a Crawl-delay of "+spell(r.CrawlDelay))
	}
	if r.Sitemap {
		names := "names a sitemap"
		if r.Dates != NoDates {
			names += fmt.Sprintf(" (dates: %s)", r.Dates)
		}
		parts = append(parts, names)
	}
	if len(parts) == 0 {
		parts = append(parts, "allows everything")
	}
	return "robots.txt " + strings.Join(parts, ", ")
}

func (r Rate) words() string {
	if r.random {
		return "at random, every " + spell(r.mean) + " on average"
	}
	return "every " + spell(r.mean)
}

func (t Trouble) words() string {
	what := fmt.Sprintf("answers %d %s", t.Status, http.StatusText(t.Status))
	if t.Status == http.StatusOK {
		what = "says with 200 OK that it was not found"
	}
	text := what + " " + t.Window.words()
	if t.RetryAfter > 0 {
		text += ", with Retry-After: " + spell(time.Duration(wholeSeconds(t.RetryAfter))*time.Second)
	}
	return text
}

func (w Window) words() string {
	switch {
	case w.For == 0 && w.From == 0:
		return "always"
	case w.For == 0:
		return "for ever after " + spell(w.From)
	case w.Every == 0:
		return fmt.Sprintf("after %s for %s", spell(w.From), spell(w.For))
	}
	return fmt.Sprintf("after %s for %s, and again every %s", spell(w.From), spell(w.For), spell(w.Every))
}

// spell prints a duration for people: "1 min 30 s".
func spell(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if n := d / u.unit; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d %= u.unit
		}
	}
	if len(parts) == 0 {
		return "no time"
	}
	return strings.Join(parts, " ")
}
