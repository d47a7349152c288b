package app

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// watchEvery is the time between two lines of progress.
const watchEvery = 5 * time.Second

func (d *devRun) announce() {
	fmt.Fprintf(d.Out, "Temporal UI  %s\n", d.server.uiAddress())
	fmt.Fprintf(d.Out, "Temporal     %s\n", d.server.address())
	fmt.Fprintf(d.Out, "data folder  %s\n", d.dir.path)
	fmt.Fprintln(d.Out, "ready; Ctrl-C stops, and starting again continues")
}

// watch prints a line of progress whenever something has changed, until ctx
// ends.
func (d *devRun) watch(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if line := d.progress(ctx); line != last && line != "" {
				fmt.Fprintf(d.Out, "%s  %s\n", time.Now().Format(time.TimeOnly), line)
				last = line
			}
		}
	}
}

// progress is one line on all crawls.
func (d *devRun) progress(ctx context.Context) string {
	crawls, err := d.store.ListCrawls(ctx)
	if err != nil {
		return ""
	}
	var parts []string
	for _, c := range crawls {
		status, err := d.store.Status(ctx, c.ID)
		if err != nil {
			continue
		}
		parts = append(parts, c.Spec.Name+": "+statusWords(c.State, status))
	}
	return strings.Join(parts, "; ")
}

func statusWords(state crawl.CrawlState, s store.StatusRecord) string {
	words := []string{fmt.Sprintf("%d visits", s.Visits)}
	for _, ps := range crawl.PageStates() {
		if n := s.Pages[ps]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, ps))
		}
	}
	if s.Waiting > 0 {
		words = append(words, fmt.Sprintf("%d waiting in line", s.Waiting))
	}
	if state != crawl.CrawlRunning {
		words = slices.Insert(words, 0, state.String())
	}
	return strings.Join(words, ", ")
}

func rememberedPort(address string) int {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port)
	return n
}

// portOr returns the first port that is not 0.
func portOr(ports ...int) int {
	for _, p := range ports {
		if p != 0 {
			return p
		}
	}
	return 0
}
