package crawl

// SinkSpec sends what changes to a program, a folder or people. See changes.md.
type SinkSpec struct {
	// Kind is webhook, mail, exec or folder.
	Kind string `json:"kind"`
	// To is the receiver: the URL of a webhook, or env:NAME or file:PATH, where the workers
	// find it; addresses of mail, separated by commas; the name of a program, or of a folder,
	// that the operator's settings allow.
	To string `json:"to"`
	// Secret says where the secret of a webhook is: env:NAME or file:PATH, on the
	// workers. Two, separated by a space, while one replaces the other: both sign.
	Secret string `json:"secret,omitempty"`
	// Kinds are the kinds of changes to be sent, such as page.new; a * may stand at the
	// end: page.*. None are page.new, page.changed, page.gone, page.back and page.moved.
	Kinds []string `json:"kinds,omitempty"`
	// Hosts and Prefix select pages: of these hosts, or whose URL starts like one of these
	// prefixes. None select all.
	Hosts  Texts `json:"hosts,omitempty"`
	Prefix Texts `json:"prefix,omitempty"`
	// When selects changes of text, all of its conditions together.
	When *SinkWhen `json:"when,omitempty"`
	// From is now (the default: what changes from the sink's first day on) or all (what the
	// feed still has).
	From string `json:"from,omitempty"`
	// Every, if it is set, collects the changes of that time into one message, in which each
	// page stands once. MaxItems is the most pages in it, at most 1000; 0 is 50.
	Every    Duration `json:"every,omitempty"`
	MaxItems int      `json:"max_items,omitempty"`
	// Format is how a webhook's body looks: json (the default), slack, discord, ntfy or
	// markdown; and for folder html or text.
	Format string `json:"format,omitempty"`
	// AllowPrivate lets a webhook be on this machine or in a private network.
	AllowPrivate bool `json:"allow_private,omitempty"`
}

// SinkWhen selects changes by what changed in the text.
type SinkWhen struct {
	// Appears and Goes are words that must stand in an added, or a removed, line. Case does
	// not matter.
	Appears Texts `json:"appears,omitempty"`
	Goes    Texts `json:"goes,omitempty"`
	// Words is the least number of words that were added or removed.
	Words int `json:"words,omitempty"`
	// Number watches a number on the page.
	Number *SinkNumber `json:"number,omitempty"`
}

// SinkNumber watches the first number after a text, such as a price.
type SinkNumber struct {
	// After is the text before the number, "" for the first number of the page.
	After string `json:"after"`
	// Below and Above are bounds: the change counts if the number crosses one in that
	// direction.
	Below *float64 `json:"below,omitempty"`
	Above *float64 `json:"above,omitempty"`
}
