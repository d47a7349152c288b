package app

import (
	"context"
	"errors"
	"log/slog"

	"recrawl/internal/monitor"
)

// webReadiness says whether the parts that the page needs answer.
func webReadiness(log *slog.Logger, parts ...monitor.Part) *monitor.Readiness {
	for i, p := range parts {
		parts[i].Ask = discreet(p, log)
	}
	r := monitor.NewReadiness()
	r.Working(parts...)
	return r
}

// errSilent is all that strangers learn of a part: its own error may name addresses.
var errSilent = errors.New("does not answer")

// discreet asks a part. The log has its error, once for each time that it is away.
func discreet(p monitor.Part, log *slog.Logger) func(ctx context.Context) error {
	away := false // a Readiness asks once at a time
	return func(ctx context.Context) error {
		err := p.Ask(ctx)
		if err == nil {
			away = false
			return nil
		}
		if !away {
			log.Warn("the page is not ready", "part", p.Name, "error", err)
		}
		away = true
		return errSilent
	}
}
