package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"recrawl/internal/crawl"
)

// action is a button: an address to which a form is posted.
type action struct {
	pattern string // as in view
	// fields are the form's fields, each a choice that may be left out; nil has none.
	fields func(r *http.Request) []string
	// do carries the command out and returns what was understood, in words.
	do func(ctx context.Context, s *Server, r *http.Request) (string, error)
}

// actions are all buttons.
func actions() []action {
	return []action{
		{"/crawls/{crawl}/do/{change}", nil, changeCrawl},
		{"/crawls/{crawl}/retry", retryFields, retryPages},
		{"/crawls/{crawl}/pages/{page}/{change}", pageFields, changePage},
		{"/crawls/{crawl}/sinks/{sink}/{command}", sinkFields, commandSink},
		{"/crawls/{crawl}/hosts/{host}/{block}", nil, blockHost},
		{"/crawls/{crawl}/traps/{trap}/release", nil, releaseTrap},
	}
}

func changeCrawl(ctx context.Context, s *Server, r *http.Request) (string, error) {
	change := r.PathValue("change")
	if err := oneOf(change, "pause", "resume", "stop", "rank", "repair"); err != nil {
		return "", err
	}
	return s.Commands.ChangeCrawl(ctx, r.PathValue("crawl"), change)
}

func retryFields(*http.Request) []string { return []string{"host"} }

func retryPages(ctx context.Context, s *Server, r *http.Request) (string, error) {
	host, err := hostOf(r.PostFormValue("host"))
	if err != nil {
		return "", err
	}
	return s.Commands.Retry(ctx, r.PathValue("crawl"), host)
}

// sinkFields: only a replay has a choice.
func sinkFields(r *http.Request) []string {
	if r.PathValue("command") != replay {
		return nil
	}
	return []string{"after", failedField}
}

func commandSink(ctx context.Context, s *Server, r *http.Request) (string, error) {
	command := r.PathValue("command")
	if err := oneOf(command, "test", "pause", "resume", "skip", replay); err != nil {
		return "", err
	}
	after, failed := r.PostFormValue("after"), r.PostFormValue(failedField)
	switch {
	case command == replay && (after == "") == (failed == ""):
		return "", fmt.Errorf("the replay %w: give after, or %s=1, and one of these only", errBad, failedField)
	case failed == "":
		return s.Commands.CommandSink(ctx, r.PathValue("crawl"), r.PathValue("sink"), command, after)
	case failed != "1":
		return "", fmt.Errorf("%s=%s %w: it is 1", failedField, crawl.Clean(failed, 60), errBad)
	}
	return s.Commands.ReplayFailed(ctx, r.PathValue("crawl"), r.PathValue("sink"))
}

// replay is the command to a sink that has fields. Its failedField asks for the changes that the
// receiver refused.
const (
	replay      = "replay"
	failedField = "failed"
)

// replayButton sends those changes again.
func replayButton(crawlName, sink string) button {
	return button{
		Action: at(crawlName, "sinks", sink, replay), Label: "Send again", About: "what " + sink + " could not deliver",
		Fields: []field{{failedField, "1"}},
	}
}

// blockHost blocks a host in all crawls. It must be asked for where the host was seen, so that a
// misspelt address does nothing.
func blockHost(ctx context.Context, s *Server, r *http.Request) (string, error) {
	block := r.PathValue("block")
	if err := oneOf(block, "block", "unblock"); err != nil {
		return "", err
	}
	host, err := hostOf(r.PathValue("host"))
	if err != nil {
		return "", err
	}
	if _, err := s.Report.Store.Crawl(ctx, r.PathValue("crawl")); err != nil {
		return "", err
	}
	return s.Commands.SetBlocked(ctx, host, block == "block")
}

func releaseTrap(ctx context.Context, s *Server, r *http.Request) (string, error) {
	return s.Commands.ReleaseTrap(ctx, r.PathValue("crawl"), r.PathValue("trap"))
}

// oneOf refuses a text that is not one of some words.
func oneOf(given string, words ...string) error {
	if slices.Contains(words, given) {
		return nil
	}
	return fmt.Errorf("%q %w: it is one of %v", crawl.Clean(given, 60), errBad, words)
}
