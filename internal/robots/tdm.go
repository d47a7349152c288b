package robots

import (
	"encoding/json"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/urlkey"
)

// Terms is a parsed tdmrep.json, see crawl.TermsPath. It may be used from any goroutine.
type Terms struct{ stated []statement }

// ParseTerms reads the Text of a tdmrep.json, a list of locations with their reservations.
// Whatever it is, it never fails: unreadable parts say nothing.
func ParseTerms(text []byte) *Terms {
	var entries []json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		entries = []json.RawMessage{text} // some write one entry without the list
	}
	t := &Terms{}
	for _, entry := range entries[:min(len(entries), maxStated)] {
		var e struct {
			Location    string          `json:"location"`
			Reservation json.RawMessage `json:"tdm-reservation"`
			Policy      json.RawMessage `json:"tdm-policy"`
		}
		if err := json.Unmarshal(entry, &e); err != nil || e.Location == "" {
			continue
		}
		location := e.Location
		if location[0] != '/' && location[0] != '*' {
			location = "/" + location
		}
		said := reserve.TDM("tdmrep.json: "+e.Location+" tdm-reservation ", string(e.Reservation), strings.Trim(string(e.Policy), `"`))
		t.stated = append(t.stated, newStatement(location, said))
	}
	return t
}

// Reserved returns the file's statement about uses of a URL: of the locations that
// match it the longest counts. Of several equally long ones, the one that reserves
// does.
func (t *Terms) Reserved(url urlkey.URL) []crawl.Reservation {
	if len(t.stated) == 0 {
		return nil
	}
	return decisiveOf(t.stated, newTarget(url.Target()))
}
