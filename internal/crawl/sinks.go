package crawl

// SinkSpec sends changes to a program, a folder or people. See sinks-delivery.md.
type SinkSpec struct {
	// Kind is one of webhook, mail, exec, folder and search.
	Kind string `json:"kind"`
	// To is the receiver: the URL of a webhook, or env:NAME or file:PATH, where the workers
	// find it; addresses of mail, separated by commas; the name of a program, or of a folder,
	// that the operator's settings allow. A search index has none: it is kept with the store.
	To string `json:"to,omitempty"`
	// Secret says where the secret of a webhook is: env:NAME or file:PATH, on the
	// workers. Two, separated by a space, while one replaces the other: both sign.
	Secret string `json:"secret,omitempty"`
	// Kinds are the kinds of changes to be sent, such as page.new; a * may stand at the
	// end: page.*. None are page.new, page.changed, page.gone, page.back and page.moved, without
	// sitemaps and feeds, and without pages that never had content.
	Kinds []string `json:"kinds,omitempty"`
	// Hosts select pages by their host: example.com, *.example.com for every name under it,
	// or example.com:8080. None select all.
	Hosts Texts `json:"hosts,omitempty"`
	// Prefix selects pages whose URL starts with it, or with one of a list, as text.
	Prefix Texts `json:"prefix,omitempty"`
	// When selects changes of text, all of its conditions together. Only page.new,
	// page.changed and page.back are such changes, and others are not sent.
	When *SinkWhen `json:"when,omitempty"`
	// From says where a new sink begins: now (the default: changes from its first day on)
	// or all (the changes that the feed still has).
	From string `json:"from,omitempty"`
	// Every collects the changes of that time, counted from the first of them, into one
	// message, in which each page stands once: 1m to 31d. Without it each change is sent.
	Every Duration `json:"every,omitempty"`
	// MaxItems is the most pages in such a message, at most 1000; 0 is 50.
	MaxItems int `json:"max_items,omitempty"`
	// Format is the form of a webhook's body: json (the default), slack, discord, ntfy
	// or markdown; and of a folder's files, html (the default), text, markdown, chunks
	// or mirror, as exports have them.
	Format string `json:"format,omitempty"`
	// Article makes a folder of markdown or chunks hold only the article of each page.
	Article bool `json:"article,omitempty"`
	// AllowPrivate lets a webhook be on this machine or in a private network.
	AllowPrivate bool `json:"allow_private,omitempty"`
}

// SinkWhen selects changes by what changed in the text.
type SinkWhen struct {
	// Appears is text that must stand in an added line; of a list, any. Case does not matter.
	Appears Texts `json:"appears,omitempty"`
	// Goes is the same for removed lines.
	Goes Texts `json:"goes,omitempty"`
	// Words is the least number of words that were added or removed, together.
	Words int `json:"words,omitempty"`
	// Number watches a number on the page, such as a price.
	Number *SinkNumber `json:"number,omitempty"`
}

// SinkNumber watches the first number after a text, such as a price.
type SinkNumber struct {
	// After is the text before the number, "" for the first number of the page.
	After string `json:"after"`
	// Below is a bound: the change counts if the number was at least that and is less now.
	Below *float64 `json:"below,omitempty"`
	// Above is a bound: the change counts if the number was at most that and is more now.
	Above *float64 `json:"above,omitempty"`
}
