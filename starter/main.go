// Command starter starts and inspects crawls; see `starter --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"recrawl/internal/app"
	"recrawl/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := cli.Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Backend: app.Backend{}}
	os.Exit(cli.Main(ctx, os.Args[1:], env))
}
