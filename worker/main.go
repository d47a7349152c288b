// Command worker runs recrawl's workflows and activities. It is configured by
// RECRAWL_* and TEMPORAL_* variables; see docs/operations.md. `worker ready` asks the one
// that listens at RECRAWL_METRICS whether it works.
package main

import (
	"io"
	"log"
	"os"

	"recrawl/internal/app"
)

func main() {
	ctx, stop := app.UntilTold()
	defer stop()
	// The libraries' own: net/http writes a line for each odd frame that a server
	// sends, hundreds of thousands if it wants to.
	log.SetOutput(io.Discard)
	os.Exit(app.RunWorker(ctx, os.Args[1:], os.Getenv, os.Stderr))
}
