package warctest

import "slices"

// rule is the standard's rule for one named field.
type rule struct {
	section string
	syntax  syntax
	// must are the types of records that shall have the field, never those that
	// shall not.
	must, never []string
	// only, if set, are the only types that may have it.
	only []string
	// repeats: a record may have several.
	repeats bool
	// since is the version that defined the field; to earlier ones it is an unknown
	// extension, which a reader ignores (5.1).
	since string
}

// types are the record types of clause 6.
var types = []string{"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"}

// noPayload: clause 4. WARC/1.0 counts 'revisit' among them and then demands its
// payload's digest (6.7.2).
var noPayload = []string{"warcinfo", "metadata"}

// uncaptured are the types that do not come from a single capture event.
var uncaptured = []string{"warcinfo", "conversion", "continuation"}

// rules are the defined fields of clause 5, by their names in lower case, and the
// IIPC's WARC-Protocol, an adopted extension.
var rules = map[string]rule{
	"warc-record-id":     {section: "5.2", syntax: checkID, must: types},
	"content-length":     {section: "5.3", syntax: checkNumber, must: types},
	"warc-date":          {section: "5.4", syntax: checkDate, must: types},
	"warc-type":          {section: "5.5", syntax: checkToken, must: types},
	"content-type":       {section: "5.6", syntax: checkMediaType},
	"warc-concurrent-to": {section: "5.7", syntax: checkID, never: uncaptured, repeats: true},
	"warc-block-digest":  {section: "5.8", syntax: checkDigest},
	"warc-payload-digest": {
		section: "5.9", syntax: checkDigest, never: noPayload,
	},
	"warc-ip-address": {section: "5.10", syntax: checkIP, never: uncaptured},
	"warc-refers-to": {
		section: "5.11", syntax: checkID, never: []string{"warcinfo", "response", "resource", "request", "continuation"},
	},
	"warc-refers-to-target-uri": {section: "5.12", syntax: checkTarget, only: []string{"revisit"}, since: Version11},
	"warc-refers-to-date":       {section: "5.13", syntax: checkDate, only: []string{"revisit"}, since: Version11},
	"warc-target-uri": {
		section: "5.14", syntax: checkTarget, never: []string{"warcinfo"},
		must: []string{"response", "resource", "request", "revisit", "conversion", "continuation"},
	},
	"warc-truncated":   {section: "5.15", syntax: checkToken},
	"warc-warcinfo-id": {section: "5.16", syntax: checkID, never: []string{"warcinfo"}},
	"warc-filename":    {section: "5.17", syntax: checkText, only: []string{"warcinfo"}},
	"warc-profile":     {section: "5.18", syntax: checkTarget, must: []string{"revisit"}, only: []string{"revisit"}},
	"warc-identified-payload-type": {
		section: "5.19", syntax: checkMediaType, never: noPayload,
	},
	"warc-segment-number": {section: "5.20", syntax: checkNumber, must: []string{"continuation"}},
	"warc-segment-origin-id": {
		section: "5.21", syntax: checkID, must: []string{"continuation"}, only: []string{"continuation"},
	},
	"warc-segment-total-length": {section: "5.22", syntax: checkNumber, only: []string{"continuation"}},
	"warc-protocol":             {section: "IIPC WARC-Protocol", syntax: checkText, never: uncaptured, repeats: true},
}

// allows reports whether a record of a type may have the field; for unknown types it
// reports true.
func (r rule) allows(kind string) bool {
	if !slices.Contains(types, kind) {
		return true
	}
	return !slices.Contains(r.never, kind) && (r.only == nil || slices.Contains(r.only, kind))
}
