// Command starter starts and inspects crawls; see `starter --help`.
package main

import (
	"io"
	"log"
	"os"

	"recrawl/internal/app"
	"recrawl/internal/cli"
)

func main() {
	app.CollectLate()
	ctx, stop := app.UntilTold()
	defer stop()
	// The libraries' own: net/http writes a line for each odd frame that a server
	// sends, hundreds of thousands if it wants to.
	log.SetOutput(io.Discard)
	env := cli.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: isTerminal(os.Stdout),
		Getenv: os.Getenv, Environ: os.Environ, Backend: app.Backend{},
	}
	os.Exit(cli.Main(ctx, os.Args[1:], env))
}

// isTerminal reports whether a person may be looking.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
