package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"recrawl/internal/config"
	"recrawl/internal/durable"
)

// The files of a data folder.
const (
	lockFile   = "recrawl.lock"
	storeFile  = "recrawl.db"
	archiveDir = "archive"
	marker     = config.StateFile // distinguishes a data folder from any other
)

// dataDir is a data folder that this process owns until close.
type dataDir struct {
	path string
	lock *flock.Flock
}

// openDataDir creates or takes a data folder. A folder that another process uses,
// or that holds other things, is an error of one line, and nothing is written.
func openDataDir(path string) (*dataDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	if err := checkForeign(abs); err != nil {
		return nil, err
	}
	if err := makeFolder(abs); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	d := &dataDir{path: abs, lock: flock.New(filepath.Join(abs, lockFile))}
	got, err := d.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("data folder %s cannot be locked: %w", path, err)
	}
	if !got {
		who := ""
		if state, err := d.readState(); err == nil && state.PID != 0 {
			who = fmt.Sprintf(" (pid %d)", state.PID)
		}
		return nil, fmt.Errorf("data folder %s is in use by another recrawl%s: stop it, or choose another folder with --data", path, who)
	}
	return d, nil
}

// checkForeign refuses a folder that has files but no sign of recrawl.
func checkForeign(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("data folder: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) == 0 || slices.Contains(names, marker) || slices.Contains(names, storeFile) || slices.Contains(names, lockFile) {
		return nil
	}
	return fmt.Errorf("folder %s is not a recrawl data folder (it holds %s): choose an empty or new folder with --data", path, strings.Join(names[:min(3, len(names))], ", "))
}

// makeFolder makes a folder that only its owner may enter, whatever the process's
// umask, if there is none.
func makeFolder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil // its user notices if it is none
	}
	if err == nil {
		err = os.Chmod(path, 0o700)
	}
	return err
}

// keepPrivate takes the folder away from other users, and the files in it: those
// that an earlier recrawl made, and those that Temporal leaves to the umask. Deeper
// files are out of reach with the folder.
func (d *dataDir) keepPrivate() error {
	entries, err := os.ReadDir(d.path)
	errs := []error{err, private(d.path)}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 { // the target of a link belongs to somebody else
			errs = append(errs, private(d.file(e.Name())))
		}
	}
	return errors.Join(errs...)
}

// private takes a file or folder away from everybody except its owner.
func private(path string) error {
	const others = 0o077
	info, err := os.Stat(path)
	if err == nil && info.Mode()&others != 0 {
		err = os.Chmod(path, info.Mode()&^others)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone meanwhile
	}
	return err
}

func (d *dataDir) file(name string) string { return filepath.Join(d.path, name) }

// readState returns the state that the last owner wrote; a zero state if there is none.
func (d *dataDir) readState() (config.DevState, error) { return config.ReadDevState(d.path) }

// writeState replaces the state file in one step.
func (d *dataDir) writeState(state config.DevState) error {
	data, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.Write(d.file(marker), append(data, '\n')); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

func (d *dataDir) close() error { return d.lock.Unlock() }
