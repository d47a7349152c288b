//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"recrawl/internal/config"
)

// programs are the measured programs.
type programs struct {
	starter  string
	temporal string // the CLI, whose server starter dev runs
	version  string
}

func findPrograms(folder string) (programs, error) {
	var p programs
	for _, program := range []struct {
		name string
		to   *string
	}{{"starter", &p.starter}, {"temporal", &p.temporal}} {
		path, err := filepath.Abs(filepath.Join(folder, program.name))
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return p, fmt.Errorf("the program %s is missing (%w): run `make build`, or name its folder with -programs", program.name, err)
		}
		*program.to = path
	}
	version, err := exec.Command(p.starter, "--version").Output()
	if err != nil {
		return p, fmt.Errorf("starter --version: %w", err)
	}
	p.version = string(bytes.TrimSpace(version))
	return p, nil
}

// dev is a running `starter dev`.
type dev struct {
	programs
	data string
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{} // closed when it has ended
}

// patience bounds the wait for a start, a stop and a command. It ends a hang only.
const patience = 15 * time.Minute

// startDev starts `starter dev` on a data folder and waits until it is ready.
func startDev(ctx context.Context, p programs, data string, args ...string) (*dev, error) {
	if err := os.MkdirAll(filepath.Dir(data), 0o755); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	log, err := os.OpenFile(data+".log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("keep the output: %w", err)
	}
	begun, err := log.Seek(0, 2)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keep the output: %w", err), log.Close())
	}
	d := &dev{programs: p, data: data, log: log, done: make(chan struct{})}
	d.cmd = exec.Command(p.starter, append([]string{"--data", data, "dev", "--temporal-port", "0", "--ui-port", "0"}, args...)...)
	d.cmd.Env = append(os.Environ(), "RECRAWL_TEMPORAL_CLI="+p.temporal)
	d.cmd.Stdout, d.cmd.Stderr = log, log
	// A Ctrl-C on the terminal is ours: we end it, after a last sample.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start starter dev: %w", err), log.Close())
	}
	go func() { d.cmd.Wait(); close(d.done) }()
	if err := d.awaitReady(ctx, begun); err != nil {
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

// awaitReady waits for the word in the log.
func (d *dev) awaitReady(ctx context.Context, begun int64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		out, err := os.ReadFile(d.data + ".log")
		if err != nil {
			return fmt.Errorf("read the output: %w", err)
		}
		if bytes.Contains(out[begun:], []byte("ready")) {
			return nil
		}
		select {
		case <-look.C:
		case <-d.done:
			return fmt.Errorf("starter dev ended; see %s.log", d.data)
		case <-ctx.Done():
			return fmt.Errorf("starter dev is not ready: %w; see %s.log", ctx.Err(), d.data)
		}
	}
}

// stop ends it as Ctrl-C does, or, if it does not end, with its Temporal server by force.
func (d *dev) stop() error {
	defer d.log.Close()
	select {
	case <-d.done:
		return nil
	default:
	}
	state, stateErr := config.ReadDevState(d.data)
	if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop starter dev: %w", err)
	}
	select {
	case <-d.done:
		return nil
	case <-time.After(patience):
	}
	err := d.cmd.Process.Kill()
	<-d.done
	if stateErr == nil && state.TemporalPID > 0 {
		_ = syscall.Kill(state.TemporalPID, syscall.SIGKILL) // it ends with its parent, if it can
	}
	return errors.Join(fmt.Errorf("starter dev did not end within %s and was killed", patience), err)
}

// ended reports whether it has ended by itself.
func (d *dev) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// ask runs a starter command on a data folder and returns how long it took.
func (p programs) ask(ctx context.Context, data string, args ...string) (out []byte, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	cmd := exec.CommandContext(ctx, p.starter, append([]string{"--data", data, "--output", "json"}, args...)...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err = cmd.Output()
	if err != nil {
		err = fmt.Errorf("starter %v: %w: %s", args, err, bytes.TrimSpace(problem.Bytes()))
	}
	return out, time.Since(began), err
}

// overdue asks how many pages of a crawl are overdue; the store answers even while nothing
// runs.
func (p programs) overdue(ctx context.Context, data, crawl string) (int, error) {
	out, _, err := p.ask(ctx, data, "status", crawl)
	if err != nil {
		return 0, err
	}
	var line struct {
		Overdue int `json:"overdue"`
	}
	if err := json.Unmarshal(out, &line); err != nil {
		return 0, fmt.Errorf("starter status: %w", err)
	}
	return line.Overdue, nil
}
