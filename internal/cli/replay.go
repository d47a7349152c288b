package cli

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"recrawl/internal/export"
)

type replayCmd struct {
	What   string `arg:"" name:"file-or-name" help:"A WACZ file, or the name of a crawl, which is exported to a temporary one."`
	Listen string `default:"127.0.0.1:8235" placeholder:"HOST:PORT" help:"Where to listen, by default 127.0.0.1:8235: an address of this machine alone."`
}

// Help implements kong.HelpProvider.
func (replayCmd) Help() string {
	return `Pages appear as they were, with their pictures, styles and fonts if the crawl keeps these (documents.requisites).
The browser asks nothing of the web meanwhile. What plays them is wabac.js, which is not part of recrawl: make replay
installs it beside the programs, and RECRAWL_REPLAY names another folder of it (docs/replay.md).

    starter replay exports/news-wacz/2026-11-21T180338Z/news-20261121180338.wacz
    starter replay news`
}

// ReplayOptions are the options of `starter replay`.
type ReplayOptions struct {
	File   string // the WACZ file
	Listen string // host:port, of the loopback
	// Player is the folder of wabac.js, "" for the one beside the program.
	Player string
	Log    *slog.Logger
	Out    io.Writer
	// Prepare, unless nil, makes the file once it is known that it can be served.
	Prepare func() error
}

// Run serves an archive until the context ends.
func (c replayCmd) Run(s *session) error {
	if err := checkLoopback(c.Listen); err != nil {
		return usagef("--listen %w", err)
	}
	o := ReplayOptions{File: c.What, Listen: c.Listen, Player: s.cfg.Replay, Log: s.cfg.NewLog(s.env.Stderr, s.cfg.Log), Out: s.env.screen}
	if isFile(c.What) {
		return s.env.Backend.Replay(s.ctx, o)
	}
	return s.withArchive(func(at Target) (err error) {
		folder, err := os.MkdirTemp("", "recrawl-replay-")
		if err != nil {
			return err
		}
		defer func() {
			if removed := os.RemoveAll(folder); err == nil {
				err = removed
			}
		}()
		o.File = filepath.Join(folder, c.What+".wacz")
		o.Prepare = func() error {
			file, err := s.exportPackage(at, c.What, folder)
			if err != nil {
				return err
			}
			return os.Rename(file, o.File)
		}
		return s.env.Backend.Replay(s.ctx, o)
	})
}

// isFile: a file has an extension, or a folder before it, which names of crawls do not
// need.
func isFile(what string) bool {
	return strings.HasSuffix(strings.ToLower(what), ".wacz") || strings.ContainsAny(what, `/\`)
}

// checkLoopback refuses to show an archive to other machines: the person who has it may do
// that, with a web server.
func checkLoopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%s: write HOST:PORT, such as 127.0.0.1:8235", listen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s can be reached from other machines: an archive is served to this one only", listen)
	}
	return nil
}

// exportPackage exports a crawl as WACZ to a folder and returns the file.
func (s *session) exportPackage(at Target, name, folder string) (string, error) {
	o := export.Options{Format: export.WACZ, Crawl: name}
	line, left, all := newProgress(s), remaining{}, s.visitedPages(o)
	o.Progress = func(n export.Counts) {
		line.show("exporting: " + count(int(n.Pages), "page") + left.words(share(int(n.Pages), all), time.Now()))
	}
	done, err := s.env.Backend.Export(s.ctx, at, filepath.Join(folder, "export"), o)
	line.clear()
	if err != nil {
		return "", orNoCrawl(name, err)
	}
	files, err := filepath.Glob(filepath.Join(done.Folder, "*.wacz"))
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("the export in %s has %d WACZ files", done.Folder, len(files))
	}
	if err != nil {
		return "", err
	}
	return files[0], nil
}
