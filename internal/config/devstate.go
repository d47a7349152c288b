package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// StateFile is the file in a data folder in which `starter dev` records where its
// services are.
const StateFile = "recrawl.json"

// DevState is the content of StateFile: the places that the last `starter dev` of a
// data folder used. It stays after an end, so that the store can be read without a
// running program.
type DevState struct {
	// PID is the process that owns the folder; 0 after a clean end.
	PID int `json:"pid,omitempty"`
	// Store is the store's DSN.
	Store string `json:"store,omitempty"`
	// Archive is the archive's URL or folder.
	Archive string `json:"archive,omitempty"`
	// TemporalAddress is host:port of the Temporal server, TemporalNamespace its
	// namespace, TemporalUI the address of its web pages.
	TemporalAddress   string `json:"temporal_address,omitempty"`
	TemporalNamespace string `json:"temporal_namespace,omitempty"`
	TemporalUI        string `json:"temporal_ui,omitempty"`
	// Web is the address of the page for operators.
	Web string `json:"web,omitempty"`
	// TaskQueue is Temporal's task queue; "" is the default one.
	TaskQueue string `json:"task_queue,omitempty"`
	// TemporalPID is the Temporal server's process.
	TemporalPID int `json:"temporal_pid,omitempty"`
	// MovedFrom is the folder in which the state was written, if this one is a copy of it
	// or the same under another name. It is never written.
	MovedFrom string `json:"-"`
}

// ReadDevState returns the state of a data folder; the zero state if it has
// none. The state of a folder that was copied or moved names its own store and archive,
// and no process: those are the original's.
func ReadDevState(data string) (DevState, error) {
	path := filepath.Join(data, StateFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return DevState{}, nil
	}
	if err != nil {
		return DevState{}, fmt.Errorf("read the state of the data folder: %w", err)
	}
	var state DevState
	if err := json.Unmarshal(text, &state); err != nil {
		return DevState{}, fmt.Errorf("%s is damaged (%w): start `starter dev` again, or remove the file", path, err)
	}
	return state.in(data)
}

// in is the state as it holds in a folder. The recorded paths are absolute, so that a copy
// can be told from its original. A folder without the store's file is somebody's pointer to
// another one, and is believed.
func (s DevState) in(data string) (DevState, error) {
	path, embedded := strings.CutPrefix(s.Store, "sqlite:")
	if !embedded || !filepath.IsAbs(path) || sameFolder(filepath.Dir(path), data) {
		return s, nil
	}
	here, err := filepath.Abs(data)
	if err != nil {
		return DevState{}, fmt.Errorf("data folder %s: %w", data, err)
	}
	own := filepath.Join(here, filepath.Base(path))
	if _, err := os.Stat(own); err != nil {
		return s, nil //nolint:nilerr // it has no store
	}
	return DevState{
		Store: "sqlite:" + own, Archive: filepath.Join(here, filepath.Base(s.Archive)), TemporalNamespace: s.TemporalNamespace, TaskQueue: s.TaskQueue,
		MovedFrom: filepath.Dir(path),
	}, nil
}

// sameFolder reports whether two paths lead to one folder, also through links.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
