package crawl

// Use is something that is done with pages, and that sites may reserve for themselves.
type Use string

// The uses that a crawl may have as its purpose.
const (
	UseSearch  Use = "search"   // an index, with links and short excerpts
	UseAIInput Use = "ai-input" // given to a model with a question
	UseAITrain Use = "ai-train" // making or tuning a model
	UseArchive Use = "archive"  // kept and shown as it was
)

// Uses lists all uses.
func Uses() []Use { return []Use{UseSearch, UseAIInput, UseAITrain, UseArchive} }

// TermsPath is where a site says, by the TDM Reservation Protocol, what it reserves.
const TermsPath = "/.well-known/tdmrep.json"

// Reservation is what a site says of one use of a page.
type Reservation struct {
	Use     Use  `json:"use"`
	Allowed bool `json:"allowed"`
	// Source says where it stands, in the site's own words as far as they are short:
	// "robots.txt: Content-Signal: ai-train=no".
	Source string `json:"source"`
}
