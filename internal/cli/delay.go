package cli

import "recrawl/internal/crawl"

// delayFlag is a delay as given: a duration or auto.
type delayFlag string

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *delayFlag) UnmarshalText(text []byte) error {
	*d = delayFlag(text)
	return new(crawl.PolitenessSpec).SetDelay(string(text))
}
