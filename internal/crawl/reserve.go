package crawl

// Use is a use of pages that sites may reserve for themselves.
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

// TermsPath is where a site states its reservations, by the TDM Reservation Protocol.
const TermsPath = "/.well-known/tdmrep.json"

// Reservation is a site's statement about one use of a page.
type Reservation struct {
	Use     Use  `json:"use"`
	Allowed bool `json:"allowed"`
	// Source says where it stands, in the site's own words if they are short:
	// "robots.txt: Content-Signal: ai-train=no".
	Source string `json:"source"`
}
