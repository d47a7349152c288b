package scope

import (
	"cmp"
	"unicode/utf8"

	"recrawl/internal/crawl"
)

// rule is a rule of the spec, ready to be applied.
type rule struct {
	filter filter
	accept bool
	reason string
}

// maxReason is the most bytes of a reason: it is a key of counts.
const maxReason = 80

func newRule(spec crawl.ScopeRule, field string) (rule, error) {
	r := rule{accept: spec.Accept != nil}
	given, verb := spec.Reject, ".reject"
	if r.accept {
		given, verb = spec.Accept, ".accept"
	}
	if given == nil {
		return rule{}, &crawl.SpecError{Field: field, Problem: "write either accept or reject, with a filter"}
	}
	f, err := newFilter(*given, field+verb)
	if err != nil {
		return rule{}, err
	}
	r.filter = f
	r.reason = clip(reasonRule+cmp.Or(spec.Name, f.words()), maxReason)
	return r, nil
}

// clip cuts a text that is too long, between characters, and marks the cut.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const more = "…"
	cut := limit - len(more)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + more
}

// decide is the rule's verdict; decided is false if it does not apply. If a program
// accepts or refuses for a reason, the verdict has that reason.
func (r rule) decide(s Scope, l Link) (v Verdict, decided bool) {
	heard := &hearing{scope: s, link: l}
	switch r.filter.match(heard) {
	case yes:
		return Verdict{Accept: r.accept, Reason: r.reason, Detail: heard.said}, true
	case later:
		return Verdict{Undecided: true, Reason: r.reason, Detail: heard.said}, true
	}
	return Verdict{}, false
}

// hearing is one rule's check of one link. It asks each program once.
type hearing struct {
	scope Scope
	link  Link
	said  string // by the last program that was asked
	known map[string]Answer
}

func (h *hearing) ask(program string) Answer {
	if a, ok := h.known[program]; ok {
		return a
	}
	a := h.scope.ask(program, h.link.URL)
	if h.known == nil {
		h.known = map[string]Answer{}
	}
	h.known[program] = a
	h.said = a.Reason
	return a
}
