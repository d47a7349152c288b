package crawl

import (
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	nameRE  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)
	agentRE = regexp.MustCompile(`^[A-Za-z_-]+$`)
)

// ValidName reports whether s can name a crawl.
func ValidName(s string) bool { return nameRE.MatchString(s) }

// Policies lists the revisit policies that a spec may name.
func Policies() []string {
	return []string{"sqrt", "fresh", "age", "harmonic", "frmax", "deltat", "fixed"}
}

// RulePolicies lists the policies whose pages share nothing: those that a rule of
// any crawl may name.
func RulePolicies() []string { return []string{"frmax", "deltat", "fixed"} }

// ScopeTypes lists the scope types that a spec may name.
func ScopeTypes() []string { return []string{"page", "prefix", "host", "domain", "any"} }

// Validate checks every field; the error is a *SpecError that names the first
// wrong one.
func (s *Spec) Validate() error {
	bad := func(field, format string, args ...any) error {
		return &SpecError{Field: field, Problem: fmt.Sprintf(format, args...)}
	}
	if !ValidName(s.Name) {
		return bad("name", "%q: use 1 to 40 of a-z 0-9 . _ -, starting with a letter or digit", s.Name)
	}
	if len(s.Seeds) == 0 {
		return bad("seeds", "give at least one URL")
	}
	for i, seed := range s.Seeds {
		if err := CheckSeed(seed); err != nil {
			return bad(fmt.Sprintf("seeds[%d]", i), "%v", err)
		}
	}
	if err := s.validateScope(bad); err != nil {
		return err
	}
	switch {
	case s.Limits.MaxPages < 0:
		return bad("limits.max_pages", "is negative; 0 means unlimited")
	case s.Limits.SiteTime > 0 && s.Limits.SiteTime >= s.Revisit.DefaultInterval:
		return bad("limits.site_time", "%s is not less than revisit.default_interval, %s, which is a site's round", s.Limits.SiteTime, s.Revisit.DefaultInterval)
	case s.Limits.Window < 1 || s.Limits.Window > 10000:
		return bad("limits.window", "is %d; use 1 to 10000", s.Limits.Window)
	case s.Traps.MaxHostPages < 0:
		return bad("traps.max_host_pages", "is negative; 0 means unlimited")
	case s.Traps.MaxPrefixPages < 0:
		return bad("traps.max_prefix_pages", "is negative; 0 means unlimited")
	case s.Politeness.Delay < 0:
		return bad("politeness.delay", "is negative")
	case s.Politeness.Delay > Duration(7*24*time.Hour):
		return bad("politeness.delay", "is %s; at most 7d", s.Politeness.Delay)
	case s.Politeness.AutoDelay && s.Politeness.Delay < Duration(time.Second):
		return bad("politeness.auto_delay", "varies the delay from 1s up to politeness.delay, which is only %s: make that longer, or write delay: auto", s.Politeness.Delay)
	case !(s.Politeness.Factor >= 0 && s.Politeness.Factor <= 1000):
		return bad("politeness.factor", "is %v; use 0 (off) to 1000", s.Politeness.Factor)
	case s.Politeness.MaxCrawlDelay < 0:
		return bad("politeness.max_crawl_delay", "is negative")
	case s.Politeness.PerAddress < 0 || s.Politeness.PerAddress > 1000:
		return bad("politeness.per_address", "is %d; use 1 to 1000, or 0 for no limit", s.Politeness.PerAddress)
	case s.Fetch.TimeLimit < Duration(time.Millisecond) || s.Fetch.TimeLimit > Duration(time.Hour):
		return bad("fetch.time_limit", "is %s; use 1ms to 1h", s.Fetch.TimeLimit)
	case s.Fetch.MaxBody < 1 || s.Fetch.MaxBody > 1<<30:
		return bad("fetch.max_body", "is %s; use 1B to 1GiB", s.Fetch.MaxBody)
	case len(s.Fetch.ContentTypes) == 0:
		return bad("fetch.content_types", "is empty; give at least one media type")
	}
	for i, c := range s.Fetch.AllowNetworks {
		if _, err := netip.ParsePrefix(c); err != nil {
			return bad(fmt.Sprintf("fetch.allow_networks[%d]", i), "%q is not a CIDR such as 10.0.0.0/8", c)
		}
	}
	for i, c := range s.Fetch.ContentTypes {
		kind, of, _ := strings.Cut(c, "/")
		if kind == "" || of == "" || strings.ContainsAny(c, " ;,\t\r\n") || of != "*" && strings.Contains(c, "*") && c != "*/*" {
			return bad(fmt.Sprintf("fetch.content_types[%d]", i), "%q is not a media type such as text/html, or text/* for all of a kind", c)
		}
	}
	for _, validate := range []func(badField) error{
		s.validateURLs, s.validateContent, s.validateSources, s.validateDocuments, s.validateRetention, s.validateRank, s.validateSinks, s.validatePurpose,
	} {
		if err := validate(bad); err != nil {
			return err
		}
	}
	return s.validateRevisit(bad)
}

func (s *Spec) validateRetention(bad badField) error {
	r := s.Retention
	switch {
	case r.MaxVersions < 0:
		return bad("retention.max_versions", "is negative; 0 keeps all")
	case r.MaxAge < 0:
		return bad("retention.max_age", "is negative; 0 keeps versions for ever")
	case r.MaxVisits < 0:
		return bad("retention.max_visits", "is negative; 0 keeps all")
	case r.Changes < 0:
		return bad("retention.changes", "is negative; 0 keeps changes for ever")
	}
	return nil
}

func (s *Spec) validatePurpose(bad badField) error {
	for i, use := range s.Purpose {
		switch {
		case !slices.Contains(Uses(), use):
			return bad(fmt.Sprintf("purpose[%d]", i), "%q: use search, ai-input, ai-train or archive", use)
		case slices.Contains(s.Purpose[:i], use):
			return bad(fmt.Sprintf("purpose[%d]", i), "%q is named twice", use)
		}
	}
	return nil
}

func (s *Spec) validateRevisit(bad badField) error {
	r := s.Revisit
	switch {
	case !slices.Contains(Policies(), r.Policy):
		return bad("revisit.policy", "%q: use one of %s", r.Policy, strings.Join(Policies(), ", "))
	case r.Policy == "harmonic" && !r.AcceptPatents:
		return bad("revisit.accept_patents", "is false: patents cover methods close to the policy harmonic; set it true if you may use them (docs/policies.md)")
	case r.Selective && r.Policy != "frmax" && !slices.ContainsFunc(r.Rules, func(rule RevisitRule) bool { return rule.Policy == "frmax" }):
		return bad("revisit.selective", "is a part of the policy frmax, which no page of this crawl has; its policy is %s", r.Policy)
	case s.MaintainEvery < Duration(time.Second):
		return bad("maintain_every", "is %s; at least 1s", s.MaintainEvery)
	}
	if err := r.validateIntervals(func(name string) string { return "revisit." + name }, bad); err != nil {
		return err
	}
	if r.Budget != "" {
		if _, err := ParseBudget(r.Budget); err != nil {
			return bad("revisit.budget", "%v", err)
		}
	}
	if err := s.validateRevisitRules(bad); err != nil {
		return err
	}
	if !agentRE.MatchString(s.Identity.Agent) || len(s.Identity.Agent) > 64 {
		return bad("identity.agent", "%q: a product token has 1 to 64 of A-Z a-z _ -", s.Identity.Agent)
	}
	if s.Identity.Contact != "" {
		if err := CheckContact(s.Identity.Contact); err != nil {
			return bad("identity.contact", "%v", err)
		}
	}
	return nil
}

// CheckSeed says what is wrong with a seed URL, or returns nil. Canonical form
// is urlkey's business; this is the check that a person wants before anything
// is stored.
func CheckSeed(seed string) error {
	u, err := url.Parse(strings.TrimSpace(seed))
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a URL", seed)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q: give an absolute http or https URL", seed)
	case u.Hostname() == "":
		return fmt.Errorf("%q has no host name", seed)
	case u.User != nil:
		return fmt.Errorf("%q: user names and passwords do not belong in a seed", seed)
	case BadPort(u.Port()):
		return fmt.Errorf("%q: port %s belongs to another protocol, and no browser connects to it (Fetch standard, bad ports): serve the site on another port", seed, u.Port())
	}
	return nil
}

// CheckContact says what is wrong with a contact, which site owners must be
// able to use: an http(s) URL or a mail address.
func CheckContact(contact string) error {
	if strings.ContainsAny(contact, "()\r\n") {
		return fmt.Errorf("%q has a character that a user agent cannot carry", contact)
	}
	if u, err := url.Parse(contact); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return nil
	}
	if a, err := mail.ParseAddress(contact); err == nil && a.Address == contact {
		return nil
	}
	return fmt.Errorf("%q is neither an http(s) URL nor a mail address", contact)
}
