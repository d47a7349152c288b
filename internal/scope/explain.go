package scope

import (
	"fmt"
)

// Step is one step of Check, taken or not, for a link.
type Step struct {
	// Depth is 0 for a limit, a rule or the type, and more for the parts of a rule.
	Depth int
	// Check is the question, in words.
	Check string
	// Result is the answer, in words.
	Result string
	// Decides: the verdict is this step's.
	Decides bool
}

// notReached is the result of the steps after the one that decides.
const notReached = "not reached"

// Explain is Check with each step that leads to the verdict, and those after it,
// which are not taken.
func (s Scope) Explain(l Link) (Verdict, []Step) {
	e := &explanation{verdict: s.Check(l)}
	e.limits(s, l)
	for _, r := range s.rules {
		e.rule(s, r, l)
	}
	if result := notReached; e.decided {
		e.add(0, "type "+s.kind, result)
	} else {
		e.verdict = s.byType(l.URL)
		e.decide(0, "type "+s.kind, e.outcome("covers it", "does not cover it"))
	}
	return e.verdict, e.steps
}

// explanation collects the steps.
type explanation struct {
	verdict Verdict
	steps   []Step
	decided bool
}

func (e *explanation) add(depth int, check, result string) {
	e.steps = append(e.steps, Step{Depth: depth, Check: check, Result: result})
}

func (e *explanation) decide(depth int, check, result string) {
	e.steps = append(e.steps, Step{Depth: depth, Check: check, Result: result, Decides: true})
	e.decided = true
}

func (e *explanation) outcome(accepted, rejected string) string {
	if e.verdict.Accept {
		return accepted + ": accept"
	}
	return rejected + ": reject"
}

// limits explains Scope.limits.
func (e *explanation) limits(s Scope, l Link) {
	v, decided := s.limits(l)
	look := func(check, reason, fine, wrong string) {
		switch {
		case e.decided:
			e.add(0, check, notReached)
		case decided && v.Reason == reason:
			e.verdict = v
			e.decide(0, check, e.outcome(wrong, wrong))
		default:
			e.add(0, check, fine)
		}
	}
	look("scheme", ReasonScheme, "http or https", "no http or https URL")
	look("port", ReasonPort, "may be asked", "belongs to another protocol")
	look("seed", ReasonSeed, "no", "yes")
	if s.maxDepth > 0 {
		at := fmt.Sprintf("level %d", l.Level)
		look(fmt.Sprintf("max_depth %d", s.maxDepth), ReasonDepth, at, at)
	}
	if s.maxHops > 0 {
		at := fmt.Sprintf("hops off host %d", l.Hops)
		look(fmt.Sprintf("max_hops_off_host %d", s.maxHops), ReasonHops, at, at)
	}
}

// rule explains rule.decide.
func (e *explanation) rule(s Scope, r rule, l Link) {
	verb := "reject"
	if r.accept {
		verb = "accept"
	}
	check := r.reason + " (" + verb + ")"
	if e.decided {
		e.add(0, check, notReached)
		return
	}
	heard := &hearing{scope: s, link: l}
	switch t := r.filter.match(heard); t {
	case yes:
		e.verdict = Verdict{Accept: r.accept, Reason: r.reason, Detail: heard.said}
		e.decide(0, check, e.outcome("matches", "matches"))
	case later:
		e.verdict = Verdict{Undecided: true, Reason: r.reason, Detail: heard.said}
		e.decide(0, check, "no answer: the link waits")
	case unknown:
		e.add(0, check, "cannot be told: passed over")
	default:
		e.add(0, check, "does not match")
	}
	e.filter(r.filter, heard, 1)
}

// filter explains the conditions of a filter in their order, up to the one that
// makes the answer certain.
func (e *explanation) filter(f filter, h *hearing, depth int) {
	certain := false
	for _, c := range f {
		if certain {
			e.add(depth, c.text(), notReached)
			continue
		}
		t := c.match(h)
		e.add(depth, c.text(), said(c, t, h))
		for _, inner := range c.inner {
			if len(c.inner) > 1 || len(inner) != 1 || len(inner[0].inner) > 0 {
				e.filter(inner, h, depth+1)
			}
		}
		certain = t == no
	}
}

func said(c condition, t truth, h *hearing) string {
	if reason := h.known[c.program].Reason; c.program != "" && reason != "" {
		return t.String() + ": " + reason
	}
	return t.String()
}

// ReasonNoFollow is the reason for not taking a link that asks for that, by itself or
// by its page.
const ReasonNoFollow = "nofollow"

// NoFollow is the verdict about such a link, whatever the scope says about its URL: this
// is asked first, and none of the steps that explain the scope is reached.
func NoFollow(steps []Step) (Verdict, []Step) {
	all := []Step{{Check: "the link, or its page, says nofollow", Result: "not to be followed: reject", Decides: true}}
	for _, step := range steps {
		step.Result, step.Decides = notReached, false
		all = append(all, step)
	}
	return Verdict{Reason: ReasonNoFollow}, all
}
