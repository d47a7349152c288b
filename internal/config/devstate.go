package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
}

// ReadDevState returns the state of a data folder; the zero state if it has
// none.
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
	return state, nil
}
