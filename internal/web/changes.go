package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"recrawl/internal/config"
	"recrawl/internal/feed"
	"recrawl/internal/feed/atom"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
)

// changesMore holds the parts of a list of changes that only people see.
type changesMore struct {
	parts
	Items []change
	Kinds []choice
	Host  string
	// Chosen lists the kinds asked for, for the form.
	Chosen string
	// Atom is the address of the same list for news readers.
	Atom string
}

// changesQuery selects changes of a crawl.
type changesQuery struct {
	crawl  store.CrawlRecord
	kinds  string
	host   string
	before feed.Cursor
	limit  int
	diff   bool
	query  reader.Query
}

// changesOf reads the query from an address.
func (s *Server) changesOf(ctx context.Context, r *http.Request) (q changesQuery, err error) {
	a := askedOf(r)
	q = changesQuery{kinds: a.text("kinds"), host: a.host(), limit: a.limit(), diff: a.yes("diff")}
	if a.err != nil {
		return q, a.err
	}
	if q.kinds != "" {
		if q.query.Kinds, err = feed.SelectKinds(strings.Split(q.kinds, ",")); err != nil {
			return q, fmt.Errorf("kinds: %w (%w)", err, errBad)
		}
	}
	if before := a.text("before"); before != "" {
		if q.before, err = feed.ParseCursor(before); err != nil {
			return q, fmt.Errorf("before: %w (%w)", err, errBad)
		}
	}
	name := value(r, "crawl")
	if q.crawl, err = s.Report.Store.Crawl(ctx, name); err != nil {
		return q, err
	}
	q.query.CrawlID = q.crawl.ID
	if q.host != "" {
		q.query.Hosts = []string{q.host}
	}
	return q, nil
}

// changesView lists the changes of a crawl, the newest first.
func changesView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	q, err := s.changesOf(ctx, r)
	if err != nil {
		return answer{}, err
	}
	now, err := s.Report.Store.Now(ctx)
	if err != nil {
		return answer{}, err
	}
	changes := reader.New(s.Feed, s.Files)
	last, err := changes.Last(ctx, q.query, q.before, q.limit)
	if err != nil {
		return answer{}, gone(err)
	}
	if last.Events == nil {
		last.Events = []feed.Event{}
	}
	next := ""
	if last.More {
		next = last.Before.String()
	}
	name := q.crawl.Spec.Name
	a := answer{Title: "Changes of " + name, Crawl: name, Now: now}
	if wantsJSON(r) {
		if q.diff {
			if err := withDiffs(ctx, changes, last.Events); err != nil {
				return answer{}, err
			}
		}
		a.Data = listed(r, last.Events, "before", next)
		return a, nil
	}
	s.diffs.fill(ctx, changes, q.crawl.Generation, last.Events)
	a.Data = listed(r, last.Events, "before", next)
	a.More = changesMoreOf(r, q, last.Events, next)
	return a, nil
}

// gone turns the error of a cursor that leads nowhere into a bad request.
func gone(err error) error {
	for _, leads := range []error{feed.ErrTrimmed, feed.ErrAhead, feed.ErrEpoch} {
		if errors.Is(err, leads) {
			return fmt.Errorf("before %w: %w", errBad, err)
		}
	}
	return err
}

func changesMoreOf(r *http.Request, q changesQuery, events []feed.Event, next string) changesMore {
	name := q.crawl.Spec.Name
	more := changesMore{parts: partsOf(r, "before", next), Host: q.host, Chosen: q.kinds, Atom: at(name, "changes.atom")}
	more.Further = len(events) < q.limit
	for _, k := range kindChoices {
		more.Kinds = append(more.Kinds, choice{Name: k.name, Link: elsewhere(without(r, "before"), "kinds", k.kinds), Chosen: k.kinds == q.kinds})
	}
	if query := without(r, "before").URL.RawQuery; query != "" {
		more.Atom += "?" + query
	}
	for _, e := range events {
		more.Items = append(more.Items, changeOf(name, e))
	}
	return more
}

// without returns a request without a parameter.
func without(r *http.Request, name string) *http.Request {
	copied := r.Clone(r.Context())
	values := copied.URL.Query()
	values.Del(name)
	copied.URL.RawQuery = values.Encode()
	return copied
}

// withDiffs adds the differences of the texts.
func withDiffs(ctx context.Context, changes *reader.Reader, events []feed.Event) (err error) {
	for i := range events {
		if events[i].Diff, err = changes.DiffOf(ctx, events[i]); err != nil {
			return err
		}
	}
	return nil
}

// changesAtom writes the newest changes as a feed for news readers.
func (s *Server) changesAtom(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerLimit)
	defer cancel()
	text, err := s.atom(ctx, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text) // an error means that the reader has gone
}

func (s *Server) atom(ctx context.Context, r *http.Request) ([]byte, error) {
	q, err := s.changesOf(ctx, r)
	if err != nil {
		return nil, err
	}
	changes := reader.New(s.Feed, s.Files)
	last, err := changes.Last(ctx, q.query, q.before, q.limit)
	if err != nil {
		return nil, gone(err)
	}
	if q.diff {
		if err := withDiffs(ctx, changes, last.Events); err != nil {
			return nil, err
		}
	}
	slices.Reverse(last.Events) // Write has the newest last
	var text bytes.Buffer
	err = atom.Write(&text, atom.Feed{
		Name: q.crawl.Spec.Name, Chosen: atom.Chosen(strings.Split(q.kinds, ","), []string{q.host}), Self: whole(r), Epoch: last.Before.Epoch, Updated: q.crawl.CreatedAt,
		Software: "recrawl/" + config.VersionText(), Events: last.Events,
	})
	return text.Bytes(), err
}

// whole returns the address of a request as its client has it.
func whole(r *http.Request) string {
	scheme := "http"
	if byTLS(r) {
		scheme = "https"
	}
	return scheme + "://" + r.Host + r.URL.RequestURI()
}
