// Command testsite serves a scripted web on loopback, to try a crawler on; see
// package testsite.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"recrawl/internal/testsite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until the context ends.
func run(ctx context.Context) error {
	address := flag.String("listen", "127.0.0.1:8042", "loopback `address`; port 0 takes any free one")
	seed := flag.Uint64("seed", 1, "`number` that chooses texts and times")
	flag.Parse()

	site := testsite.New(testsite.Options{Seed: *seed})
	if err := site.Start(ctx, *address); err != nil {
		return err
	}
	defer site.Close()
	fmt.Printf("what every page does, and the log: %s\n", site.URL(testsite.AdminHost))
	for _, url := range site.Seeds() {
		fmt.Println(url)
	}
	<-ctx.Done()
	return nil
}
