package cli

import (
	"bytes"
	"fmt"
	"time"

	"recrawl/internal/report"
)

// watchEvery is the time between two updates of --watch.
const watchEvery = 2 * time.Second

// clearScreen moves a terminal's cursor home and clears everything below.
const clearScreen = "\x1b[H\x1b[J"

// watch writes an answer again and again, over the last one on a terminal,
// until the context ends, as a person ends it.
func (s *session) watch(write func(report.Reporter) error) error {
	return s.withStore(func(opened Opened) error {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			var answer bytes.Buffer
			err := write(s.reporter(opened, &answer))
			if s.ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			if s.env.draws() && s.global.Output == report.Text {
				fmt.Fprint(s.env.screen, clearScreen)
			}
			if _, err := s.env.Stdout.Write(answer.Bytes()); err != nil {
				return err
			}
			select {
			case <-ticker.C:
			case <-s.ctx.Done():
				return nil
			}
		}
	})
}
