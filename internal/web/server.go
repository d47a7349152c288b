package web

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// Commands carries out what buttons ask for: the starter's commands of the same names. The
// texts say what was understood. The error for a crawl or page that does not exist is
// store.ErrNotFound.
type Commands interface {
	// ChangeCrawl is `starter pause|resume|stop|rank|repair`.
	ChangeCrawl(ctx context.Context, crawl, change string) (string, error)
	// ChangePage is `starter visit|snooze|set-interval|stop-page`: change is visit-now, snooze,
	// set-interval or stop, arg the duration of those that have one.
	ChangePage(ctx context.Context, page store.PageRecord, change, arg string) (string, error)
	// Retry is `starter retry`: all failing pages of a crawl, or of one host of it.
	Retry(ctx context.Context, crawl, host string) (string, error)
	// CommandSink is `starter sinks test|pause|resume|skip|replay`; after is replay's cursor.
	CommandSink(ctx context.Context, crawl, sink, command, after string) (string, error)
	// ReplayFailed is `starter sinks replay --failed`.
	ReplayFailed(ctx context.Context, crawl, sink string) (string, error)
	// SetBlocked is `starter hosts block|unblock`.
	SetBlocked(ctx context.Context, host string, blocked bool) (string, error)
	// ReleaseTrap is `starter traps release`.
	ReleaseTrap(ctx context.Context, crawl, trap string) (string, error)
	// Doing says how far a crawl's long commands that go on have come, and which of those that did
	// have failed lately, one line for each.
	Doing(crawl string) []string
	// Live returns what a page's workflow says of itself.
	Live(ctx context.Context, page store.PageRecord) (report.Live, error)
}

// Options are the parts of a Server.
type Options struct {
	// Report answers the questions. Its Out and Format are not used.
	Report report.Reporter
	// Feed and Files are the store's feed of changes and the archive. Without Files, which may
	// be nil, texts are neither shown nor compared.
	Feed  Feed
	Files Contents
	// Judge judges a URL by the present scope of a crawl; nil if nobody can.
	Judge report.ScopeJudge
	// Commands carries out what buttons ask for; nil for a read-only page.
	Commands Commands
	Guard    Guard
	// MCP answers agents at /mcp, to all who may look; nil if nobody does.
	MCP http.Handler
	// Ready answers /readyz with 200 or 503. Everybody may ask, also without a token, so it
	// names nothing. Nil is a server that is ready while it lives.
	Ready http.Handler
	// TemporalUI is the address of the Temporal UI's namespace, for links to workflows, such
	// as http://127.0.0.1:8233/namespaces/default; "" for none.
	TemporalUI string
	Log        *slog.Logger
}

// Feed reads the feed of changes; every store.Store is one.
type Feed interface {
	reader.Store
	ChangeBefore(ctx context.Context, at time.Time) (feed.Cursor, error)
}

// Contents reads an archive; every archive.Store is one.
type Contents = report.Contents

// Server is the page for operators.
type Server struct {
	Options
	pages pages
	diffs diffs
	marks marks
}

//go:embed templates assets
var files embed.FS

// New makes a server. It panics if its own templates are wrong.
func New(o Options) *Server {
	return &Server{Options: o, pages: parsePages()}
}

// Handler serves it.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h http.Handler) { mux.Handle(pattern, s.named(h)) }
	mux.Handle("GET /assets/", cached(http.FileServerFS(files)))
	for _, v := range views() {
		handle("GET "+v.pattern, s.show(v))
		if at := jsonPattern(v.pattern); at != "" {
			handle("GET "+at, s.show(v))
		}
	}
	handle("GET /crawls/{crawl}/live", http.HandlerFunc(s.live))
	handle("GET /crawls/{crawl}/changes.atom", http.HandlerFunc(s.changesAtom))
	mux.HandleFunc("GET /openapi.json", s.openAPI)
	mux.HandleFunc("GET "+healthPath, alive)
	mux.Handle("GET "+readyPath, s.ready())
	handle("GET /crawls/{crawl}/pages/{page}/versions/{seq}/body", http.HandlerFunc(s.body))
	if s.MCP != nil {
		mux.Handle("/mcp", s.MCP)
	}
	for _, a := range actions() {
		handle("POST "+a.pattern, s.act(a))
	}
	mux.Handle(anyPattern, s.other(mux))
	return s.Guard.protect(s, mux)
}

// anyPattern takes the requests that nothing else takes.
const anyPattern = "/"

// other answers what the mux has no handler for. Since there is one for everything, the mux itself
// does not see that only the method is wrong.
func (s *Server) other(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		probe := r.Clone(r.Context())
		for _, probe.Method = range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if _, pattern := mux.Handler(probe); pattern != anyPattern {
				allowed = append(allowed, probe.Method)
			}
		}
		if len(allowed) == 0 {
			s.fail(w, r, store.ErrNotFound)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.fail(w, r, fmt.Errorf("%w %s, but %s", errMethod, crawl.Clean(r.Method, 20), strings.Join(allowed, ", ")))
	})
}

// named serves next unless the address has a name that no crawl can have, which may be no text for
// a store either, or parameters that are not encoded as such: net/http passes over those, and the
// answer would be about more than was asked.
func (s *Server) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := value(r, "crawl"); name != "" && !crawl.ValidName(name) {
			s.fail(w, r, fmt.Errorf("crawl %s: %w", quoted(name), store.ErrNotFound))
			return
		}
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil && r.Method != http.MethodPost { // readForm refuses it for commands
			s.fail(w, r, fmt.Errorf("the address %w: in a parameter, write %%3B for a semicolon, %%26 for & and %%25 for a percent sign", errBad))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answerLimit is how long an answer may take: browsers must not pile up when the store does
// not answer.
const answerLimit = 30 * time.Second

// show serves a view in the form that was asked for.
func (s *Server) show(v view) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), cmp.Or(v.limit, answerLimit))
		defer cancel()
		a, err := v.answer(ctx, s, r)
		if err != nil && ctx.Err() != nil {
			err = slowError{err}
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if wantsJSON(r) {
			s.writeJSON(w, http.StatusOK, a.Data)
			return
		}
		if a.To != "" {
			http.Redirect(w, r, a.To, http.StatusSeeOther)
			return
		}
		s.writePage(w, r, http.StatusOK, v.template, a)
	})
}

// act carries out a button's command and leads back to where it was pressed.
func (s *Server) act(a action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Commands == nil || readOnly(r.Context()) {
			s.fail(w, r, errReadOnly)
			return
		}
		var fields []string
		if a.fields != nil {
			fields = a.fields(r)
		}
		if err := readForm(r, fields); err != nil {
			s.fail(w, r, err)
			return
		}
		said, err := a.do(r.Context(), s, r)
		if err != nil {
			s.fail(w, r, commandError{err})
			return
		}
		if wantsJSON(r) {
			s.writeJSON(w, http.StatusOK, struct {
				Message string `json:"message"`
			}{said})
			return
		}
		s.tell(w, r, said)
		http.Redirect(w, r, back(r), http.StatusSeeOther)
	})
}

// Errors that are answered with a status of their own.
var (
	errReadOnly = errors.New("this page is read-only: commands are not carried out here")
	// errBad is wrapped by errors about the request.
	errBad = errors.New("cannot be understood")
	// errMethod is wrapped by errors about the method alone; what it says is followed by those
	// that the address takes.
	errMethod = errors.New("this address does not take")
)

// slowError is the error of an answer that took too long.
type slowError struct{ error }

// Unwrap implements the interface of errors.Is.
func (e slowError) Unwrap() error { return e.error }

// commandError is the error of a command, in the starter's words.
type commandError struct{ error }

// Unwrap implements the interface of errors.Is.
func (e commandError) Unwrap() error { return e.error }

// statusOf returns the HTTP status for an error.
func statusOf(err error) int {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, errReadOnly):
		return http.StatusForbidden
	case errors.Is(err, errBad):
		return http.StatusBadRequest
	case errors.Is(err, errMethod):
		return http.StatusMethodNotAllowed
	case errors.As(err, new(commandError)):
		return http.StatusConflict
	case errors.As(err, new(slowError)):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// failWords returns the heading of an error.
func failWords(status int) string {
	switch status {
	case http.StatusNotFound:
		return "There is nothing here"
	case http.StatusForbidden:
		return "Not allowed"
	case http.StatusBadRequest:
		return "That cannot be understood"
	case http.StatusMethodNotAllowed:
		return "Not in this way"
	case http.StatusConflict:
		return "That did not work"
	case http.StatusServiceUnavailable:
		return "This takes too long"
	}
	return "This cannot be shown now"
}

// fail says what went wrong.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if status >= http.StatusInternalServerError && r.Context().Err() == nil {
		s.Log.Error("the page cannot be shown", "path", r.URL.Path, "error", err)
	}
	if wantsJSON(r) {
		s.writeJSON(w, status, struct {
			Error string `json:"error"`
		}{err.Error()})
		return
	}
	s.writePage(w, r, status, "error.html", answer{Title: failWords(status), Data: err.Error()})
}
