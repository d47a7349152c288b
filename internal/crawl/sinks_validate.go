package crawl

import (
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Kinds of sinks.
const (
	SinkWebhook = "webhook"
	SinkMail    = "mail"
	SinkExec    = "exec"
	SinkFolder  = "folder"
	SinkSearch  = "search"
)

// SinkKinds lists the kinds of sinks that a spec may name.
func SinkKinds() []string { return []string{SinkWebhook, SinkMail, SinkExec, SinkFolder, SinkSearch} }

// HoldsCollection reports whether a sink of a kind keeps the collection itself, and does
// not only receive changes.
func HoldsCollection(kind string) bool { return kind == SinkFolder || kind == SinkSearch }

// The change from which a new sink delivers.
const (
	SinkFromNow = "now"
	SinkFromAll = "all"
)

// SinkFormats lists the formats of a kind of sinks, the default first; none for a kind
// that has no choice.
func SinkFormats(kind string) []string {
	switch kind {
	case SinkWebhook:
		return []string{"json", "slack", "discord", "ntfy", "markdown"}
	case SinkFolder:
		return []string{"html", "text", "markdown", "chunks", "mirror"}
	}
	return nil
}

// Limits of sinks: each has a separate workflow, and each of its conditions is tried on
// every change.
const (
	maxSinks       = 20
	maxSinkTo      = 2000
	maxSinkTexts   = 500
	maxSinkText    = 1000
	maxSinkItems   = 1000
	minSinkEvery   = time.Minute
	maxSinkEvery   = 31 * 24 * time.Hour
	usualSinkItems = 50
)

// Items is the most pages in a message of a sink that collects changes.
func (s SinkSpec) Items() int {
	if s.MaxItems == 0 {
		return usualSinkItems
	}
	return s.MaxItems
}

// textKinds are the kinds of changes after which a page has a text that `when` can examine.
var textKinds = []string{"page.new", "page.changed", "page.back"}

// changeKinds are the names of the kinds of changes; feed.Kinds has them too, and a test
// there compares.
var changeKinds = []string{
	"page.new", "page.changed", "page.gone", "page.back", "page.moved", "page.failing", "page.recovered", "page.excluded",
	"page.duplicate", "page.stopped", "page.evicted", "page.resumed", "page.forgotten",
	"crawl.state", "crawl.spec", "trap.held", "host.blocked", "sink.paused", "feed.gap",
}

// DefaultSinkKinds are the kinds of changes that a sink gets if it names none.
func DefaultSinkKinds() []string {
	return []string{"page.new", "page.changed", "page.gone", "page.back", "page.moved"}
}

// KindMatches reports whether a kind of change is one of a pattern, which may end in *.
func KindMatches(pattern, kind string) bool {
	if head, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(kind, head)
	}
	return pattern == kind
}

func (s *Spec) validateSinks(bad badField) error {
	if len(s.Sinks) > maxSinks {
		return bad("sinks", "has %d sinks; at most %d", len(s.Sinks), maxSinks)
	}
	index := ""
	for _, name := range slices.Sorted(maps.Keys(s.Sinks)) {
		if s.Sinks[name].Kind == SinkSearch {
			if index != "" {
				return bad("sinks."+name+".kind", "is search, as that of sink %s: a crawl has one search index", index)
			}
			index = name
		}
		if !ValidName(name) {
			return bad("sinks", "%.60q cannot name a sink: use 1 to 40 of a-z 0-9 . _ -, starting with a letter or digit", name)
		}
		if err := s.Sinks[name].validate("sinks."+name, bad); err != nil {
			return err
		}
	}
	return nil
}

func (s SinkSpec) validate(field string, bad badField) error {
	if !slices.Contains(SinkKinds(), s.Kind) {
		return bad(field+".kind", "%.60q: use one of %s", s.Kind, strings.Join(SinkKinds(), ", "))
	}
	formats := SinkFormats(s.Kind)
	switch {
	case s.Format != "" && len(formats) == 0:
		return bad(field+".format", "is set, but a sink of the kind %s has no choice of formats", s.Kind)
	case s.Format != "" && !slices.Contains(formats, s.Format):
		return bad(field+".format", "%.60q: for %s use one of %s", s.Format, s.Kind, strings.Join(formats, ", "))
	case s.Article && (s.Kind != SinkFolder || s.Format != "markdown" && s.Format != "chunks"):
		return bad(field+".article", "is for folders with the format markdown or chunks only")
	case s.AllowPrivate && s.Kind != SinkWebhook:
		return bad(field+".allow_private", "is for webhooks only")
	case s.From != "" && s.From != SinkFromNow && s.From != SinkFromAll:
		return bad(field+".from", "%.60q: use now or all", s.From)
	}
	if err := s.validateTo(); err != nil {
		return bad(field+".to", "%v", err)
	}
	if err := s.validateSecret(); err != nil {
		return bad(field+".secret", "%v", err)
	}
	if err := s.validateDigest(field, bad); err != nil {
		return err
	}
	if err := s.validateFilter(field, bad); err != nil {
		return err
	}
	if s.When == nil {
		return nil
	}
	return s.validateWhen(field, bad)
}

// validateTo says what is wrong with the receiver. It never repeats a whole address: those
// of some services are their own secrets.
func (s SinkSpec) validateTo() error {
	if s.Kind == SinkSearch {
		if s.To != "" {
			return fmt.Errorf("is set, but a search index is kept with the store: leave it out")
		}
		return nil
	}
	if s.To == "" || len(s.To) > maxSinkTo {
		return fmt.Errorf("has %d bytes; write 1 to %d", len(s.To), maxSinkTo)
	}
	switch s.Kind {
	case SinkWebhook:
		return checkWebhook(s.To)
	case SinkMail:
		addresses, err := mail.ParseAddressList(s.To)
		if err != nil {
			return fmt.Errorf("%.200q is no list of mail addresses: separate them by commas", s.To)
		}
		if len(addresses) > maxSinkItems/10 {
			return fmt.Errorf("has %d addresses; at most %d", len(addresses), maxSinkItems/10)
		}
	case SinkExec:
		if !ValidName(s.To) {
			return fmt.Errorf("%.60q is not the name of a program of the workers: use 1 to 40 of a-z 0-9 . _ -", s.To)
		}
	case SinkFolder:
		if clean := path.Clean(s.To); clean != s.To || path.IsAbs(s.To) || s.To == "." || strings.HasPrefix(s.To, "..") || strings.ContainsAny(s.To, "\\:\x00") {
			return fmt.Errorf("%.200q is not the name of a folder of RECRAWL_SINK_FOLDERS, or of one below it, such as news or news/docs", s.To)
		}
	}
	return nil
}

func checkWebhook(to string) error {
	if secretRE.MatchString(to) {
		return nil // an address that is a secret itself, at a place that the workers know
	}
	u, err := url.Parse(to)
	switch {
	case err != nil, u.Hostname() == "":
		return fmt.Errorf("is not a URL: write one such as https://example.com/hook, or env:NAME or file:PATH of an address that is a secret")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("begins with %.20q: give an http or https URL", u.Scheme+":")
	case u.User != nil:
		return fmt.Errorf("has a user name: user names and passwords do not belong in it; a secret signs what is sent")
	case u.Fragment != "":
		return fmt.Errorf("has a #fragment, which no server is sent: leave it out")
	case BadPort(u.Port()):
		return fmt.Errorf("has port %s, which belongs to another protocol (Fetch standard, bad ports)", u.Port())
	}
	return nil
}

var secretRE = regexp.MustCompile(`^(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\s]+)$`)

// validateSecret reports what is wrong with the place of a secret, without repeating
// it: a literal may be the secret itself.
func (s SinkSpec) validateSecret() error {
	switch {
	case s.Secret == "":
		return nil
	case s.Kind != SinkWebhook:
		return fmt.Errorf("is for webhooks only: what %s needs stands in the workers' settings", s.Kind)
	}
	places := strings.Fields(s.Secret)
	if len(places) > 2 {
		return fmt.Errorf("has %d parts: give one place, or two while one replaces the other", len(places))
	}
	for _, place := range places {
		if !secretRE.MatchString(place) {
			return fmt.Errorf("must say where the workers find the secret, env:NAME or file:PATH, and never be the secret itself: a spec is stored and shown")
		}
	}
	return nil
}

func (s SinkSpec) validateDigest(field string, bad badField) error {
	every := s.Every.Std()
	switch {
	case every < 0 || every != 0 && (every < minSinkEvery || every > maxSinkEvery):
		return bad(field+".every", "is %s; use %s to %s, or leave it out to be sent each change", s.Every, FormatDuration(minSinkEvery), FormatDuration(maxSinkEvery))
	case every != 0 && HoldsCollection(s.Kind):
		return bad(field+".every", "is set, but a %s holds the pages themselves: it takes each change by itself", collectionWord(s.Kind))
	case s.MaxItems < 0 || s.MaxItems > maxSinkItems:
		return bad(field+".max_items", "is %d; use 1 to %d, or 0 for %d", s.MaxItems, maxSinkItems, usualSinkItems)
	case s.MaxItems != 0 && every == 0:
		return bad(field+".max_items", "is set, but without every each change is a message of its own")
	}
	return nil
}

// collectionWord is the word for a kind that holds the collection.
func collectionWord(kind string) string {
	if kind == SinkSearch {
		return "search index"
	}
	return kind
}

func (s SinkSpec) validateFilter(field string, bad badField) error {
	if HoldsCollection(s.Kind) && len(s.Kinds) > 0 {
		return bad(field+".kinds", "is set, but a %s follows all that comes to its pages: leave it out, and choose pages by hosts or prefix", collectionWord(s.Kind))
	}
	if HoldsCollection(s.Kind) && s.When != nil {
		return bad(field+".when", "is set, but a %s follows all that comes to its pages: leave it out, and choose pages by hosts or prefix", collectionWord(s.Kind))
	}
	for i, pattern := range s.Kinds {
		if !slices.ContainsFunc(changeKinds, func(kind string) bool { return KindMatches(pattern, kind) }) {
			return bad(fmt.Sprintf("%s.kinds[%d]", field, i), "%.60q is no kind of change: use some of %s; a * may stand at the end", pattern, strings.Join(changeKinds, ", "))
		}
	}
	for _, list := range []struct {
		name  string
		texts Texts
		check func(string) error
	}{
		{"hosts", s.Hosts, checkHostPattern},
		{"prefix", s.Prefix, checkSinkPrefix},
	} {
		if err := checkTexts(field+"."+list.name, list.texts, list.check, bad); err != nil {
			return err
		}
	}
	return nil
}

// checkTexts checks each of a list of texts, where there is one.
func checkTexts(field string, texts Texts, check func(string) error, bad badField) error {
	if texts != nil && (len(texts) == 0 || len(texts) > maxSinkTexts) {
		return bad(field, "has %d values; give 1 to %d", len(texts), maxSinkTexts)
	}
	for i, text := range texts {
		where := field
		if len(texts) > 1 {
			where = fmt.Sprintf("%s[%d]", field, i)
		}
		if strings.TrimSpace(text) == "" || len(text) > maxSinkText {
			return bad(where, "has %d bytes; write 1 to %d", len(strings.TrimSpace(text)), maxSinkText)
		}
		if check == nil {
			continue
		}
		if err := check(text); err != nil {
			return bad(where, "%v", err)
		}
	}
	return nil
}

func checkSinkPrefix(prefix string) error {
	if u, err := url.Parse(prefix); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%.200q is not the start of an address such as https://example.com/docs/", prefix)
	}
	return nil
}

func (s SinkSpec) validateWhen(field string, bad badField) error {
	w, at := s.When, field+".when"
	if len(w.Appears) == 0 && len(w.Goes) == 0 && w.Words == 0 && w.Number == nil {
		return bad(at, "is empty: give appears, goes, words or number")
	}
	for i, pattern := range s.Kinds {
		if !slices.ContainsFunc(textKinds, func(kind string) bool { return KindMatches(pattern, kind) }) {
			return bad(fmt.Sprintf("%s.kinds[%d]", field, i), "%s has no text for when to look at: use some of %s, or a sink of its own for it", pattern, strings.Join(textKinds, ", "))
		}
	}
	if err := checkTexts(at+".appears", w.Appears, nil, bad); err != nil {
		return err
	}
	if err := checkTexts(at+".goes", w.Goes, nil, bad); err != nil {
		return err
	}
	if w.Words < 0 {
		return bad(at+".words", "is negative; 0 is any number")
	}
	if n := w.Number; n != nil {
		return n.validate(at+".number", bad)
	}
	return nil
}

func (n *SinkNumber) validate(at string, bad badField) error {
	wild := func(f *float64) bool { return f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) }
	switch {
	case len(n.After) > maxSinkText:
		return bad(at+".after", "has %d bytes; at most %d", len(n.After), maxSinkText)
	case n.Below == nil && n.Above == nil:
		return bad(at, "give below, above or both")
	case wild(n.Below):
		return bad(at+".below", "is not a number")
	case wild(n.Above):
		return bad(at+".above", "is not a number")
	case n.Below != nil && n.Above != nil && *n.Below > *n.Above:
		return bad(at, "below %v is more than above %v, so that every number between them would count twice: swap them", *n.Below, *n.Above)
	}
	return nil
}

// SearchSink is the sink that keeps the crawl's search index, if there is one.
func (s *Spec) SearchSink() (name string, spec SinkSpec, ok bool) {
	for name, spec := range s.Sinks {
		if spec.Kind == SinkSearch {
			return name, spec, true
		}
	}
	return "", SinkSpec{}, false
}
