package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// elsewhere returns the address of a request with another value of a parameter, or without
// the parameter for "".
func elsewhere(r *http.Request, name, text string) string {
	values := r.URL.Query()
	values.Del(name)
	if text != "" {
		values.Set(name, text)
	}
	if len(values) == 0 {
		return r.URL.EscapedPath()
	}
	return r.URL.EscapedPath() + "?" + values.Encode()
}

// parts holds the links from a part of a list to the others.
type parts struct {
	// First is the first part, "" if it is shown. Next is "" if there is none.
	First, Next string
	// Further says that Next continues a search, which looks at some thousands of rows at a
	// time, and may show nothing more.
	Further bool
	// Filtered says that the list is filtered; All is the address of the whole list.
	Filtered bool
	All      string
}

func partsOf(r *http.Request, place, next string) parts {
	p := parts{All: r.URL.EscapedPath()}
	if next != "" {
		p.Next = elsewhere(r, place, next)
	}
	if r.URL.Query().Get(place) != "" {
		p.First = elsewhere(r, place, "")
	}
	for name, values := range r.URL.Query() {
		p.Filtered = p.Filtered || name != place && name != "limit" && slices.ContainsFunc(values, func(v string) bool { return v != "" })
	}
	return p
}

// listed is a part of a list as JSON has it.
func listed[T any](r *http.Request, items []T, place, next string) list[T] {
	l := list[T]{V: apiVersion, Items: items}
	if next != "" {
		at := elsewhere(r, place, next)
		l.Next = &at
	}
	return l
}

// option is one of the values that a filter can have.
type option struct {
	Value, Name string
	Chosen      bool
}

// pagesMore holds the parts of a list of pages that only people see.
type pagesMore struct {
	parts
	Text, Prefix, Host string
	States             []option
}

func stateOptions(chosen []crawl.PageState) []option {
	options := []option{{"", "any", len(chosen) == 0}}
	if len(chosen) > 1 {
		var names []string
		for _, s := range chosen {
			names = append(names, s.String())
		}
		options = append(options, option{strings.Join(names, ","), strings.Join(names, ", "), true})
	}
	for _, s := range crawl.PageStates() {
		options = append(options, option{s.String(), s.String(), len(chosen) == 1 && chosen[0] == s})
	}
	return options
}

// pagesView lists pages by state, host, prefix, and text of the URL.
func pagesView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	a := askedOf(r)
	q := report.PagesSearch{Crawl: value(r, "crawl"), PageSearch: store.PageSearch{
		States: a.states(), Host: a.host(), Prefix: a.text("prefix"), Text: escaped(a.text("text")),
		After: a.number("after"), Limit: a.limit(),
	}}
	if a.err != nil {
		return answer{}, a.err
	}
	batch, err := s.Report.PagesBatch(ctx, q)
	if err != nil {
		return answer{}, understood(err)
	}
	more := pagesMore{partsOf(r, "after", batch.Next), a.text("text"), q.Prefix, q.Host, stateOptions(q.States)}
	more.Further = len(batch.Items) < q.Limit
	return answer{
		Title: "Pages of " + q.Crawl, Crawl: q.Crawl, Now: batch.Now, Data: listed(r, batch.Items, "after", batch.Next), More: more,
	}, nil
}

// escaped returns a text as it stands in URLs, which have no spaces, only ASCII letters, and no
// brackets or quotes.
func escaped(text string) string {
	const never = "\"#'<>[\\]^`{|}"
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(never, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// understood turns the store's errors about the query into bad requests.
func understood(err error) error {
	if errors.Is(err, store.ErrGrouped) {
		return fmt.Errorf("host %w: %w", errBad, err)
	}
	return err
}

// hostsMore holds the parts of a list of hosts that only people see.
type hostsMore struct {
	parts
	Text    string
	Trouble bool
	// Cut says that only the first Most of the hosts in trouble were looked at.
	Cut  bool
	Most int
}

// hostsView lists hosts by text of their names, or those in trouble.
func hostsView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	a := askedOf(r)
	q := report.HostsSearch{Crawl: value(r, "crawl"), Trouble: a.yes("trouble"), HostSearch: store.HostSearch{
		Text: strings.ToLower(a.text("text")), After: a.text("after"), Limit: a.limit(),
	}}
	if a.err != nil {
		return answer{}, a.err
	}
	batch, err := s.Report.HostsBatch(ctx, q)
	if err != nil {
		return answer{}, err
	}
	more := hostsMore{partsOf(r, "after", batch.Next), a.text("text"), q.Trouble, batch.Cut, report.MaxTroubleListed}
	more.Further = len(batch.Items) < q.Limit
	return answer{
		Title: "Hosts of " + q.Crawl, Crawl: q.Crawl, Now: batch.Now, Data: listed(r, batch.Items, "after", batch.Next), More: more,
	}, nil
}

// hostMore holds the parts of a host's view that only people see, besides its numbers.
type hostMore struct {
	// Kept is the share of requests that is kept for pages that were never visited.
	Kept    string
	Robots  []report.RobotsText
	Buttons []button
}

// robotsShown bounds the bytes of a robots.txt that are shown.
const robotsShown = 32 << 10

// hostView shows one host.
func hostView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	name := r.PathValue("crawl")
	host, err := hostOf(value(r, "host"))
	if err != nil {
		return answer{}, err
	}
	item, now, err := s.Report.HostOf(ctx, name, host)
	if err != nil {
		return answer{}, understood(err)
	}
	a := answer{Title: item.Host + ", a host of " + name, Crawl: name, Now: now, Data: item}
	if wantsJSON(r) {
		return a, nil
	}
	more := hostMore{Kept: fmt.Sprintf("%.0f %%", 100*item.Kept), Buttons: []button{
		{Action: at(name, "retry"), Label: "Retry its failing pages", Fields: []field{{"host", item.Host}}},
		{Action: at(name, "hosts", item.Host, "block"), Label: "Block", About: item.Host, Grave: true},
	}}
	if item.Blocked {
		more.Buttons = []button{{Action: at(name, "hosts", item.Host, "unblock"), Label: "Unblock", About: item.Host}}
	}
	if more.Robots, err = s.Report.RobotsTexts(ctx, item); err != nil {
		return answer{}, err
	}
	for i := range more.Robots {
		more.Robots[i].Text = shownText(more.Robots[i].Text, robotsShown)
	}
	a.More = more
	return a, nil
}

// shownText makes a text of several lines safe to show.
func shownText(text string, limit int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if limit -= len(line) + 1; limit < 0 {
			return strings.Join(lines[:i], "\n") + "\n…"
		}
		lines[i] = crawl.Clean(line, len(line))
	}
	return strings.Join(lines, "\n")
}

// rejectedAnswer is the answer about rejected links as JSON has it.
type rejectedAnswer struct {
	list[report.RejectedLine]
	Reasons []report.ReasonLine `json:"reasons"`
}

// rejectedMore holds the parts of the view of rejected links that only people see.
type rejectedMore struct {
	parts
	Reason string
	Kept   int
}

// rejectedView shows how many links were rejected, and why, with examples.
func rejectedView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	a := askedOf(r)
	q := report.RejectedQuery{Crawl: value(r, "crawl"), Reason: a.text("reason"), Limit: a.limit(), After: a.rejectedPlace("after")}
	if a.err != nil {
		return answer{}, a.err
	}
	found, err := s.Report.RejectedOf(ctx, q)
	if err != nil {
		return answer{}, err
	}
	next := ""
	if p := found.Next; p != nil {
		next = fmt.Sprintf("%d.%d.%s", p.At.UnixMicro(), p.Slot, p.Reason)
	}
	return answer{
		Title: "Rejected links of " + q.Crawl, Crawl: q.Crawl, Now: found.Now,
		Data: rejectedAnswer{listed(r, found.Links, "after", next), found.Reasons},
		More: rejectedMore{partsOf(r, "after", next), q.Reason, store.RejectedKept},
	}, nil
}

// trapsAnswer is the answer about traps as JSON has it.
type trapsAnswer struct {
	list[report.TrapLine]
	// Prefixes are those below which most pages were found.
	Prefixes []report.PrefixLine `json:"prefixes"`
}

// shownPrefixes is how many prefixes a list of traps has.
const shownPrefixes = 20

// trapsView lists traps, each with the button that releases it.
func trapsView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	a := askedOf(r)
	name, host, after, limit := value(r, "crawl"), a.host(), a.number("after"), a.limit()
	if a.err != nil {
		return answer{}, a.err
	}
	batch, err := s.Report.TrapsBatch(ctx, name, host, after, limit)
	if err != nil {
		return answer{}, understood(err)
	}
	prefixes, err := s.Report.PrefixesOf(ctx, name, shownPrefixes)
	if err != nil {
		return answer{}, err
	}
	return answer{
		Title: "Traps of " + name, Crawl: name, Now: batch.Now,
		Data: trapsAnswer{listed(r, batch.Items, "after", batch.Next), prefixes}, More: hostFilterOf(r, host, batch.Next, len(batch.Items) < limit),
	}, nil
}

// duplicatesAnswer is the answer about duplicates as JSON has it.
type duplicatesAnswer struct {
	list[report.DuplicateItem]
	// Mirrors are the pairs of hosts that share most contents.
	Mirrors []report.MirrorLine `json:"mirrors"`
}

// shownMirrors is how many pairs of hosts a list of duplicates has.
const shownMirrors = 20

// duplicatesView lists duplicates, and hosts with mostly the same contents.
func duplicatesView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	a := askedOf(r)
	name, host, limit := value(r, "crawl"), a.host(), a.limit()
	of, page, err := pairOf(a.text("after"))
	if err != nil {
		a.wrong("after", a.text("after"), "it is two numbers with a point between, as next of a part of the list has it")
	}
	if a.err != nil {
		return answer{}, a.err
	}
	batch, err := s.Report.DuplicatesBatch(ctx, name, host, of, page, limit)
	if err != nil {
		return answer{}, understood(err)
	}
	mirrors, err := s.Report.MirrorsOf(ctx, name, shownMirrors)
	if err != nil {
		return answer{}, err
	}
	return answer{
		Title: "Duplicates of " + name, Crawl: name, Now: batch.Now,
		Data: duplicatesAnswer{listed(r, batch.Items, "after", batch.Next), mirrors}, More: hostFilterOf(r, host, batch.Next, len(batch.Items) < limit),
	}, nil
}

// pairOf reads two numbers with a point between.
func pairOf(text string) (a, b int64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, second, _ := strings.Cut(text, ".")
	if a, err = strconv.ParseInt(first, 10, 64); err == nil {
		b, err = strconv.ParseInt(second, 10, 64)
	}
	return a, b, err
}

// hostFilter holds the parts of a list that can be filtered by host that only people see.
type hostFilter struct {
	parts
	Host string
}

// hostFilterOf is a part of such a list; further says that the search for more goes on.
func hostFilterOf(r *http.Request, host, next string, further bool) hostFilter {
	f := hostFilter{partsOf(r, "after", next), host}
	f.Further = further && next != ""
	return f
}

// sourcesView lists sitemaps and feeds.
func sourcesView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	a := askedOf(r)
	q := report.SourcesQuery{Crawl: value(r, "crawl"), Host: a.host(), Limit: a.limit()}
	after := a.number("after")
	if a.err != nil {
		return answer{}, a.err
	}
	batch, err := s.Report.SourcesBatch(ctx, q, after)
	if err != nil {
		return answer{}, err
	}
	return answer{
		Title: "Sources of " + q.Crawl, Crawl: q.Crawl, Now: batch.Now,
		Data: listed(r, batch.Items, "after", batch.Next), More: hostFilterOf(r, q.Host, batch.Next, false),
	}, nil
}

// sinkMore is a sink as people see it.
type sinkMore struct {
	report.SinkItem
	Failed  string // the address of the list of undelivered changes
	Buttons []button
}

// sinksView lists sinks with their buttons.
func sinksView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	name := value(r, "crawl")
	batch, err := s.Report.SinksOf(ctx, name)
	if err != nil {
		return answer{}, err
	}
	var more []sinkMore
	for _, k := range batch.Items {
		more = append(more, sinkMore{k, at(name, "sinks", k.Sink, "failed"), sinkButtons(name, k)})
	}
	return answer{Title: "Sinks of " + name, Crawl: name, Now: batch.Now, Data: listed(r, batch.Items, "", ""), More: more}, nil
}

// sinkButtons returns the commands that fit a sink's state.
func sinkButtons(crawlName string, k report.SinkItem) []button {
	do := func(command, label string) button {
		return button{Action: at(crawlName, "sinks", k.Sink, command), Label: label, About: k.Sink}
	}
	buttons := []button{do("test", "Send a test")}
	if k.Undelivered > 0 {
		buttons = append(buttons, replayButton(crawlName, k.Sink))
	}
	switch k.State {
	case "paused":
		buttons = append(buttons, do("resume", "Resume"))
	case "retrying":
		buttons = append(buttons, do("resume", "Try now"), do("pause", "Pause"))
	default:
		return append(buttons, do("pause", "Pause"))
	}
	skip := do("skip", "Skip the change at which it stands")
	skip.Grave = true
	return append(buttons, skip)
}

// failedMore holds the parts of the list of undelivered changes that only people see.
type failedMore struct {
	parts
	Sink string
	// Again sends them again; nil if there are none.
	Again *button
}

// failedView lists the changes that a sink could not deliver.
func failedView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	a := askedOf(r)
	name, sink, after, limit := r.PathValue("crawl"), r.PathValue("sink"), a.number("after"), a.limit()
	if a.err != nil {
		return answer{}, a.err
	}
	batch, err := s.Report.FailedBatch(ctx, name, sink, after, limit)
	if err != nil {
		return answer{}, err
	}
	more := failedMore{parts: partsOf(r, "after", batch.Next), Sink: sink}
	if len(batch.Items) > 0 {
		again := replayButton(name, sink)
		more.Again = &again
	}
	return answer{
		Title: "What " + sink + " could not deliver", Crawl: name, Now: batch.Now,
		Data: listed(r, batch.Items, "after", batch.Next), More: more,
	}, nil
}

// releaseButton lets the pages of a trap be visited.
func releaseButton(crawlName, trap string) button {
	return button{Action: at(crawlName, "traps", trap, "release"), Label: "Release", About: trap}
}
