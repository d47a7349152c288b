package cli

import (
	"fmt"

	"recrawl/internal/config"
	"recrawl/internal/report"
	"recrawl/internal/urlkey"
)

type hostsCmd struct {
	List    hostListCmd `cmd:"" default:"withargs" help:"List the hosts of a crawl and their politeness."`
	Block   blockCmd    `cmd:"" help:"Make no more requests to a host, in any crawl."`
	Unblock unblockCmd  `cmd:"" help:"Make requests to a blocked host again."`
}

type hostListCmd struct {
	Name  string `arg:"" help:"The crawl."`
	Limit uint   `placeholder:"N" help:"Show at most N; all without it."`
}

// Run lists hosts.
func (c hostListCmd) Run(s *session) error {
	q := report.HostsQuery{Crawl: c.Name, Limit: int(c.Limit)}
	return s.withReport(func(r report.Reporter) error { return orNoCrawl(c.Name, r.Hosts(s.ctx, q)) })
}

type blockCmd struct {
	Host string `arg:"" help:"The host as in 'starter hosts': example.com, or example.com:8080."`
}

// Help implements kong.HelpProvider.
func (blockCmd) Help() string {
	return `At once and until it is unblocked: a request that is under way may end, no other begins. What is known of
the host's pages stays; 'starter forget --host' removes it. A host that no crawl has yet is blocked ahead of time;
its name at another port, and with or without "www.", is another host.

    starter hosts block example.com`
}

// Run blocks the host.
func (c blockCmd) Run(s *session) error { return s.setBlocked(c.Host, true) }

type unblockCmd struct {
	Host string `arg:"" help:"The host."`
}

// Run unblocks the host.
func (c unblockCmd) Run(s *session) error { return s.setBlocked(c.Host, false) }

func (s *session) setBlocked(host string, blocked bool) error {
	key, err := hostKey(host)
	if err != nil {
		return err
	}
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	message, err := s.env.Backend.SetBlocked(s.ctx, s.target(), key, blocked)
	if err != nil {
		return err
	}
	return s.say("%s", message)
}

// hostFilter is the form under which the host of --host is stored, "" if it is not given.
func hostFilter(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	key, err := hostKey(text)
	if err != nil {
		return "", fmt.Errorf("--host: %w", err)
	}
	return key, nil
}

// hostKey is the form under which a host is stored.
func hostKey(text string) (string, error) {
	key, err := urlkey.ParseHost(text)
	if err != nil {
		return "", usage(err)
	}
	return key, nil
}
