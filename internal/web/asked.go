package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// How many rows a part of a list has, unless the address says otherwise, and at most.
const (
	shownRows = 50
	mostRows  = 500
)

// asked reads the parameters of an address; err is about the first that cannot be
// understood.
type asked struct {
	values url.Values
	err    error
}

func askedOf(r *http.Request) *asked { return &asked{values: r.URL.Query()} }

// text returns a parameter without the space around it, "" if it is not given.
func (a *asked) text(name string) string { return strings.TrimSpace(a.values.Get(name)) }

// yes returns a parameter that is 1 or 0, false if it is not given.
func (a *asked) yes(name string) bool {
	switch text := a.text(name); text {
	case "", "0":
	case "1":
		return true
	default:
		a.wrong(name, text, "it is 1 or 0")
	}
	return false
}

// host returns the parameter that names a host, in the form under which hosts are stored, "" if
// it is not given.
func (a *asked) host() string {
	host, err := hostOf(a.text("host"))
	if a.err == nil {
		a.err = err
	}
	return host
}

// hostOf returns the form under which a host is stored, "" for "".
func hostOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	host, err := urlkey.ParseHost(text)
	if err != nil {
		return "", fmt.Errorf("the host %w: %w", errBad, err)
	}
	return host, nil
}

func (a *asked) wrong(name, text, should string) {
	if a.err == nil {
		a.err = fmt.Errorf("%s=%s %w: %s", name, crawl.Clean(text, 60), errBad, should)
	}
}

// number returns a parameter that is a number from 0 on, 0 if it is not given.
func (a *asked) number(name string) int64 {
	text := a.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		a.wrong(name, text, "it is a number, as next of a part of the list has it")
	}
	return n
}

// limit returns the number of rows asked for.
func (a *asked) limit() int {
	n := a.number("limit")
	if n > mostRows {
		a.wrong("limit", a.text("limit"), fmt.Sprintf("it is at most %d", mostRows))
	}
	return int(cmp.Or(min(n, mostRows), shownRows))
}

// states returns the page states asked for, nil for all.
func (a *asked) states() (states []crawl.PageState) {
	for _, text := range a.values["state"] {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			var state crawl.PageState
			if state.UnmarshalText([]byte(name)) != nil {
				a.wrong("state", name, fmt.Sprintf("it is one of %v", crawl.PageStates()))
			}
			states = append(states, state)
		}
	}
	return states
}

// rejectedPlace reads where a part of the list of rejected links begins: a time in
// microseconds, a number and a reason, with points between.
func (a *asked) rejectedPlace(name string) (p store.RejectedPlace) {
	text := a.values.Get(name)
	if text == "" {
		return p
	}
	at, rest, _ := strings.Cut(text, ".")
	slot, reason, _ := strings.Cut(rest, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	if err == nil {
		p.Slot, err = strconv.Atoi(slot)
	}
	if err != nil || reason == "" {
		a.wrong(name, text, "it is as next of a part of the list has it")
	}
	p.At, p.Reason = time.UnixMicro(micros), reason
	return p
}
