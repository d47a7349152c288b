package warctest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
)

// MaxProblems bounds the problems that a Report lists; the rest are counted.
const MaxProblems = 100

// Report holds the findings of Check.
type Report struct {
	Records int
	Types   map[string]int // records by type
	// Problems are the first MaxProblems in the order of the file; those that only
	// its end brings to light come last.
	Problems []Problem
	More     int // further ones
}

// Problem is one way in which a file breaks the standard.
type Problem struct {
	// Offset is where the record, or its gzip member, begins in the file as stored.
	Offset int64
	// Rule is a section of WARC/1.1, or the document that the rule is from.
	Rule string
	Text string
	// Advice: the standard recommends otherwise ("should"); it does not demand it.
	Advice bool
}

func (p Problem) String() string {
	kind := "rule"
	if p.Advice {
		kind = "advice"
	}
	return fmt.Sprintf("record at %d: %s (%s %s)", p.Offset, p.Text, kind, p.Rule)
}

// Err returns nil if the file keeps every rule, whatever was advised.
func (r Report) Err() error {
	for _, p := range r.Problems {
		if !p.Advice {
			return fmt.Errorf("not a valid WARC file: %s", p)
		}
	}
	return nil
}

// Check reads a whole WARC file, plain or gzip, and says what is wrong with it. The error
// is that of reading r; everything about the file is in the report.
//
// Besides the rules it follows the recommendations of annex D (each record a gzip
// member of its own), 5.5 (a warcinfo first) and 5.6, those of the IIPC's annotations, and
// reports invalid HTTP messages and references that lead out of the file. It remembers
// about 64 bytes a record.
func Check(r io.Reader) (Report, error) {
	c := checker{
		report: Report{Types: map[string]int{}},
		seen:   map[uint64]seen{}, wanted: map[uint64]reference{}, seed: maphash.MakeSeed(),
		buffer: bufio.NewReaderSize(nil, 64<<10),
	}
	reader := NewReader(r)
	for {
		rec, err := reader.Next()
		var syntax *SyntaxError
		switch {
		case err == io.EOF:
			c.unresolved()
			return c.report, nil
		case errors.As(err, &syntax):
			c.add(Problem{Offset: syntax.Offset, Rule: syntax.Rule, Text: syntax.Text})
		case err != nil:
			return c.report, err
		default:
			c.record(rec)
		}
	}
}

type checker struct {
	report Report
	rec    *Record // the current one
	kind   string  // its type
	// seen are the records so far by the hash of their identifier, wanted the
	// identifiers that were referred to and have not been seen.
	seen   map[uint64]seen
	wanted map[uint64]reference
	seed   maphash.Seed
	buffer *bufio.Reader // of the current block; it bounds the lines of HTTP heads
}

// seen holds hashes of the texts that a later record is compared with.
type seen struct {
	date, digest uint64
}

type reference struct {
	offset int64
	field  string // lower case
	date   uint64 // of the capture event, 0 if it may differ
}

func (c *checker) add(p Problem) {
	if len(c.report.Problems) >= MaxProblems {
		c.report.More++
		return
	}
	c.report.Problems = append(c.report.Problems, p)
}

// broken adds a broken rule of the current record, advise a recommendation that it
// does not follow.
func (c *checker) broken(rule, format string, args ...any) {
	c.add(Problem{Offset: c.rec.Offset, Rule: rule, Text: fmt.Sprintf(format, args...)})
}

func (c *checker) advise(rule, format string, args ...any) {
	c.add(Problem{Offset: c.rec.Offset, Rule: rule, Text: fmt.Sprintf(format, args...), Advice: true})
}

func (c *checker) record(rec *Record) {
	c.rec, c.kind = rec, rec.Get("WARC-Type")
	if c.report.Records == 0 && c.kind != "warcinfo" {
		c.advise("5.5", "the file does not begin with a warcinfo record")
	}
	c.report.Records++
	c.report.Types[c.kind]++
	if rec.Shared {
		c.advise("annex D", "several records share a gzip member")
	}
	c.fields()
	c.segment()
	c.revisit()
	c.block()
	c.references()
}

// fields checks each field against its rule, and the record for the fields that it must
// have.
func (c *checker) fields() {
	count := map[string]int{}
	for _, f := range c.rec.Fields {
		name := strings.ToLower(f.Name)
		count[name]++
		if f.Folded {
			c.advise("IIPC annotation 74", "%s goes over several lines", f.Name)
		}
		rule, defined := rules[name]
		if !defined || rule.since > c.rec.Version {
			continue // 5.1: shall be ignored
		}
		if count[name] == 2 && !rule.repeats {
			c.broken("5.1", "%s is repeated", f.Name)
		}
		if !rule.allows(c.kind) {
			c.broken(rule.section, "a %s record shall not have %s", c.kind, f.Name)
		}
		if err := rule.syntax(c.rec.Version, f.Value); err != nil {
			c.broken(rule.section, "%s %.200q %v", f.Name, f.Value, err)
		}
	}
	for _, name := range mandatory {
		if rule := rules[name]; count[name] == 0 && (slices.Contains(rule.must, c.kind) || len(rule.must) == len(types)) {
			c.broken(rule.section, "a %s record shall have %s", c.kind, name)
		}
	}
	if c.rec.Length > 0 && count["content-type"] == 0 && c.kind != "continuation" {
		c.advise("5.6", "a block and no Content-Type")
	}
}

// mandatory are the fields that some records must have, in a steady order.
var mandatory = func() (names []string) {
	for name, r := range rules {
		if len(r.must) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}()

// segment: 5.20, clause 7. Segments that lie in other files are not looked for.
func (c *checker) segment() {
	number := strings.TrimLeft(c.rec.Get("WARC-Segment-Number"), "0")
	switch {
	case !c.rec.has("WARC-Segment-Number"):
	case c.kind == "continuation" && (number == "" || number == "1"):
		c.broken("5.20", "a continuation is not the first segment")
	case c.kind != "continuation" && number != "1":
		c.broken("5.20", "only a continuation is not the first segment")
	}
}

func (r *Record) has(name string) bool {
	return slices.ContainsFunc(r.Fields, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// The profiles of 6.7 without the version that their URIs name.
const (
	identicalPayload = "identical-payload-digest"
	notModified      = "server-not-modified"
)

// profile returns which of the standard's profiles a revisit record has, "" for
// another's.
func (r *Record) profile() string {
	uri := strings.Trim(r.Get("WARC-Profile"), "<>")
	for _, version := range []string{"1.0", "1.1"} {
		if p, ok := strings.CutPrefix(uri, "http://netpreserve.org/warc/"+version+"/revisit/"); ok && (p == identicalPayload || p == notModified) {
			return p
		}
	}
	return ""
}

// revisit: 6.7. Records of other profiles shall not be interpreted.
func (c *checker) revisit() {
	if c.kind != "revisit" {
		return
	}
	profile := c.rec.profile()
	if profile == identicalPayload && !c.rec.has("WARC-Payload-Digest") {
		c.broken("6.7.2", "a revisit of identical payload shall have its digest")
	}
	named := c.rec.has("WARC-Refers-To") || c.rec.has("WARC-Refers-To-Date")
	if profile != "" && !named {
		c.advise("6.7", "a revisit that refers to no record")
	}
}

// references checks the record against those that it names, and remembers it for those that
// will name it.
func (c *checker) references() {
	rec := c.rec
	date := c.hash(rec.Get("WARC-Date"))
	var payload uint64
	if d, err := parseDigest(rec.Get("WARC-Payload-Digest")); err == nil && d.sum != "" {
		payload = c.hash(d.algorithm + d.sum)
	}
	id := c.hashID(rec.Get("WARC-Record-ID"))
	if _, twice := c.seen[id]; twice && rec.has("WARC-Record-ID") {
		c.broken("5.2", "WARC-Record-ID %.200q is that of another record", rec.Get("WARC-Record-ID"))
	}
	c.seen[id] = seen{date: date, digest: payload}
	if ref, ok := c.wanted[id]; ok {
		delete(c.wanted, id)
		c.sameEvent(ref, date)
	}
	for _, f := range rec.Fields {
		switch name := strings.ToLower(f.Name); name {
		case "warc-concurrent-to":
			c.refer(f.Value, reference{rec.Offset, name, date})
		case "warc-warcinfo-id":
			c.refer(f.Value, reference{rec.Offset, name, 0})
		case "warc-refers-to":
			if to, ok := c.seen[c.hashID(f.Value)]; ok && c.kind == "revisit" {
				c.refersTo(to, payload)
			}
		}
	}
}

// refersTo compares a revisit with the record that it names, if that is in the
// file.
func (c *checker) refersTo(to seen, payload uint64) {
	if payload != 0 && to.digest != 0 && payload != to.digest {
		c.broken("6.7", "the payload's digest is not that of the record that it refers to")
	}
	if date := c.rec.Get("WARC-Refers-To-Date"); date != "" && c.rec.Version == Version11 && c.hash(date) != to.date {
		c.broken("5.13", "WARC-Refers-To-Date is not the date of the record that it refers to")
	}
}

func (c *checker) refer(to string, ref reference) {
	id := c.hashID(to)
	if to, ok := c.seen[id]; ok {
		c.sameEvent(ref, to.date)
		return
	}
	c.wanted[id] = ref
}

// sameEvent: records of one capture event have one date (5.4).
func (c *checker) sameEvent(ref reference, date uint64) {
	if ref.date != 0 && ref.date != date {
		c.broken("5.4", "records of one capture event have different dates")
	}
}

// unresolved reports references that lead out of the file.
func (c *checker) unresolved() {
	if c.report.Records == 0 && len(c.report.Problems) == 0 {
		c.add(Problem{Rule: "4", Text: "a file of no record"})
	}
	refs := make([]reference, 0, len(c.wanted))
	for _, ref := range c.wanted {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b reference) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.field, b.field))
	})
	for _, ref := range refs {
		c.add(Problem{Offset: ref.offset, Rule: rules[ref.field].section, Text: ref.field + " names no record of this file", Advice: true})
	}
}

// hashID hashes an identifier, with or without its angle brackets.
func (c *checker) hashID(id string) uint64 { return c.hash(strings.Trim(id, "<>")) }

func (c *checker) hash(text string) uint64 { return maphash.String(c.seed, text) }
