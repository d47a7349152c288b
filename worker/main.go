// Command worker runs recrawl's workflows and activities. It is configured by
// RECRAWL_* and TEMPORAL_* variables; see docs/operations.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"recrawl/internal/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(app.RunWorker(ctx, os.Getenv, os.Stderr))
}
