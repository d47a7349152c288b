package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"

	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// format describes the form of a body.
type format struct {
	contentType string
	event       func(to *url.URL, e feed.Event) ([]byte, error)
	digest      func(to *url.URL, d sink.Digest) ([]byte, error)
	// checkTo says what is wrong with the address for this format; target is where the
	// request goes.
	checkTo func(to *url.URL) error
	target  func(to *url.URL) *url.URL
}

// Formats lists the formats of a webhook.
func Formats() []string { return []string{"json", "slack", "discord", "ntfy", "markdown"} }

const asJSON = "application/json"

var errTooLarge = errors.New("the change does not fit into 20 kB")

func formatOf(name string) (format, error) {
	f := format{contentType: asJSON, checkTo: func(*url.URL) error { return nil }, target: func(to *url.URL) *url.URL { return to }}
	switch name {
	case "", "json":
		f.event, f.digest = jsonEvent, jsonDigest
	case "slack":
		f.event, f.digest = shown(slackEvent), listed(slackDigest)
	case "discord":
		f.event, f.digest = shown(discordEvent), listed(discordDigest)
	case "markdown":
		f.contentType = "text/markdown; charset=utf-8"
		f.event, f.digest = shown(markdownEvent), listed(markdownDigest)
	case "ntfy":
		f.checkTo, f.target = checkTopic, ntfyTarget
		f.event, f.digest = ntfyEvent, ntfyDigest
	default:
		return format{}, fmt.Errorf("%.40q is not a format of webhooks: use %s", name, strings.Join(Formats(), ", "))
	}
	return f, nil
}

// mostPages bounds the pages that a body names: more hardly ever fit, and need not be
// written to find that out.
const mostPages = 250

// few returns the digest with no more pages than that.
func few(d sink.Digest) sink.Digest {
	if more := len(d.Events) - mostPages; more > 0 {
		d.Events, d.Left = d.Events[:mostPages], d.Left+more
	}
	return d
}

// shown makes a body of a message for people that is as long as fits.
func shown(write func(m message, lines int) ([]byte, bool)) func(*url.URL, feed.Event) ([]byte, error) {
	return func(_ *url.URL, e feed.Event) ([]byte, error) {
		m := messageOf(e)
		return largest(len(m.lines), func(n int) ([]byte, bool) { return write(m, n) })
	}
}

// listed makes a body of a digest for people with as many pages as fit.
func listed(write func(l list, items int) ([]byte, bool)) func(*url.URL, sink.Digest) ([]byte, error) {
	return func(_ *url.URL, d sink.Digest) ([]byte, error) {
		l := listOf(few(d))
		return largest(len(l.items), func(n int) ([]byte, bool) { return write(l, n) })
	}
}

// largest returns the body with the most parts, from 0 to most, that fits according to
// write. A body that fits with some parts also fits with fewer.
func largest(most int, write func(parts int) ([]byte, bool)) ([]byte, error) {
	fits := func(n int) bool {
		body, ok := write(n)
		return ok && len(body) <= maxBody
	}
	if !fits(0) {
		return nil, errTooLarge
	}
	n := sort.Search(most, func(n int) bool { return !fits(n + 1) })
	body, _ := write(n)
	return body, nil
}

// encode writes a body of ours, which JSON can always express.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // of types of this package: structs of strings
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// jsonEvent writes the event unchanged, except for lines of the difference that have no
// room.
func jsonEvent(_ *url.URL, e feed.Event) ([]byte, error) {
	body, err := jsonLines(e)
	if errors.Is(err, errTooLarge) {
		return jsonLines(short(e))
	}
	return body, err
}

func jsonLines(e feed.Event) ([]byte, error) {
	return written(linesOf(e), func(n int) ([]byte, error) { return sink.EncodeEvent(withLines(e, n)) })
}

// jsonDigest first leaves out lines of the differences, then pages.
func jsonDigest(_ *url.URL, d sink.Digest) ([]byte, error) {
	d = few(d)
	most := 0
	for i, e := range d.Events {
		most = max(most, linesOf(e))
		if body, err := sink.EncodeEvent(withLines(e, 0)); err == nil && len(body) > maxBody/2 {
			d.Events = slices.Clone(d.Events)
			d.Events[i] = short(e)
		}
	}
	part := func(pages, lines int) ([]byte, error) {
		p := d
		p.Events, p.Left = nil, d.Left+len(d.Events)-pages
		for _, e := range d.Events[:pages] {
			p.Events = append(p.Events, withLines(e, lines))
		}
		return sink.EncodeDigest(p)
	}
	body, err := written(most, func(n int) ([]byte, error) { return part(len(d.Events), n) })
	if !errors.Is(err, errTooLarge) {
		return body, err
	}
	return written(len(d.Events), func(n int) ([]byte, error) { return part(n, 0) })
}

// written is largest for a write that may fail.
func written(most int, write func(parts int) ([]byte, error)) ([]byte, error) {
	var failed error
	body, err := largest(most, func(n int) ([]byte, bool) {
		body, err := write(n)
		if err != nil {
			failed = err
		}
		return body, err == nil
	})
	if failed != nil {
		return nil, failed
	}
	return body, err
}

// maxLine bounds a line of a difference in JSON, maxWords other text of a page when room is
// short, both in bytes.
const (
	maxLine  = 1000
	maxWords = 200
)

func linesOf(e feed.Event) int {
	if e.Diff == nil {
		return 0
	}
	return len(e.Diff.Added) + len(e.Diff.Removed)
}

// withLines returns the event with at most n lines of its difference: the first that came and
// the first that went, half of them each, or more of the ones if there are fewer of the others.
// Its difference counts as cut if there were more lines, or longer ones.
func withLines(e feed.Event, n int) feed.Event {
	if e.Diff == nil {
		return e
	}
	d := *e.Diff
	removed := min(len(d.Removed), max(n/2, n-len(d.Added)))
	added := min(len(d.Added), n-removed)
	d.Cut = d.Cut || added+removed < linesOf(e)
	d.Added, d.Removed = shortLines(d.Added[:added], &d.Cut), shortLines(d.Removed[:removed], &d.Cut)
	e.Diff = &d
	return e
}

func shortLines(lines []string, isCut *bool) []string {
	lines = slices.Clone(lines)
	for i, l := range lines {
		if lines[i] = head(l, maxLine); lines[i] != l {
			*isCut = true
		}
	}
	return lines
}

// short returns the event with short titles and without the address of a redirect, for an
// event whose addresses alone fill a body.
func short(e feed.Event) feed.Event {
	e.Problem, e.Pattern, e.Location = head(e.Problem, maxWords), head(e.Pattern, maxWords), ""
	if e.Page != nil {
		p := *e.Page
		p.Title = head(p.Title, maxWords)
		e.Page = &p
	}
	for _, v := range []**feed.EventVersionOf{&e.Version, &e.Before} {
		if *v != nil {
			of := **v
			of.Title, of.ContentType = head(of.Title, maxWords), head(of.ContentType, maxWords)
			*v = &of
		}
	}
	return e
}
