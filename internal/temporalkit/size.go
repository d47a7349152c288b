package temporalkit

import (
	"encoding/json"
	"fmt"

	"recrawl/internal/crawl"
)

// maxPayload is the most bytes that a message to a workflow may have: Temporal refuses
// more than 2 MiB, and the crawl's own progress travels with its spec.
const maxPayload = 2<<20 - 64<<10

// checkSize says what is wrong with a message that Temporal would refuse.
func checkSize(what string, arg any) error {
	data, err := json.Marshal(arg)
	if err != nil {
		return fmt.Errorf("encode %s: %w", what, err)
	}
	if len(data) <= maxPayload {
		return nil
	}
	return &crawl.SpecError{Problem: fmt.Sprintf("%s has %s, and Temporal carries at most %s in one message: start the crawl with a few seeds, and add the others with `starter import NAME FILE`",
		what, sizeText(len(data)), crawl.Size(2<<20))}
}

func sizeText(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
