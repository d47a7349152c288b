package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"recrawl/internal/cli"
	"recrawl/internal/replay"
)

// Replay implements cli.Backend.
func (b Backend) Replay(ctx context.Context, o cli.ReplayOptions) (err error) {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	player, err := replay.FindPlayer(o.Player, program)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w: choose another place with --listen", o.Listen, err)
	}
	var archive *replay.Archive
	if o.Prepare != nil {
		err = o.Prepare()
	}
	if err == nil {
		archive, err = replay.Open(o.File)
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	page := servePage(ctx, l, replay.Handler(archive, player), o.Log)
	defer page.close()
	fmt.Fprintf(o.Out, "the archive is at %s; Ctrl-C stops\n", page.address())
	select {
	case <-ctx.Done():
		return nil
	case err := <-page.ended:
		return err
	}
}
