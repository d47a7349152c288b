//go:build unix

package pgtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// initdbOptions are those of a test server's database cluster.
var initdbOptions = []string{"-U", "recrawl", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"}

// makeData makes the data folder: from the template of an earlier server, which takes a fifth
// of initdb's processor time, or by initdb, which then leaves a template. The template is one
// file, so that it is there as a whole or not at all, whoever else makes or removes it.
func (s *Server) makeData(ctx context.Context) error {
	template, err := s.template()
	if err != nil {
		return err
	}
	if s.unpack(ctx, template) == nil {
		return nil
	}
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	cmd := s.command(ctx, filepath.Join(s.bin, "initdb"), append([]string{"-D", s.data()}, initdbOptions...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, strings.TrimSpace(string(out)))
	}
	_ = s.pack(ctx, template) // without a template, the next server calls initdb
	return nil
}

// template is the path of the template of this user and these programs.
func (s *Server) template() (string, error) {
	program := filepath.Join(s.bin, "postgres")
	info, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	made := fmt.Sprint(program, info.Size(), info.ModTime().UnixNano(), os.Getuid(), initdbOptions)
	return filepath.Join(os.TempDir(), fmt.Sprintf("pgtest-template-%x.tar", sha256.Sum256([]byte(made)))), nil
}

// unpack makes the data folder from a template. It refuses one that another user made.
func (s *Server) unpack(ctx context.Context, template string) error {
	file, err := os.OpenFile(template, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() {
		return fmt.Errorf("%s is another user's", template)
	}
	return s.tar(ctx, file, io.Discard, "-xpf", "-", "-C", s.dir)
}

// pack makes the template from the data folder of a server that was never started.
func (s *Server) pack(ctx context.Context, template string) error {
	file, err := os.CreateTemp(filepath.Dir(template), filepath.Base(template))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // unless it has become the template
	err = s.tar(ctx, nil, file, "-cf", "-", "-C", s.dir, filepath.Base(s.data()))
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), template)
}

// tar runs tar as the server's user.
func (s *Server) tar(ctx context.Context, from io.Reader, to io.Writer, args ...string) error {
	cmd := s.command(ctx, "tar", args...)
	cmd.Stdin, cmd.Stdout = from, to
	return cmd.Run()
}
