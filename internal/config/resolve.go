package config

import (
	"errors"
	"fmt"
)

// Overrides are the flags for the places of the store, the archive and Temporal; ""
// means not given.
type Overrides struct {
	Store, Archive, Data string
	Address, Namespace   string // of Temporal
}

// Places are the places of the store, the archive and Temporal. An empty field was
// named nowhere: for Temporal the SDK's own default applies.
type Places struct {
	Store, Archive, Data string
	Address, Namespace   string
	// TaskQueue is "" if nothing names it.
	TaskQueue string
	// FromDev: Address is that of the last `starter dev` in Data.
	FromDev bool
	// OfFolder: Store is that of Data.
	OfFolder bool
	// NoTemporal says in a sentence why Temporal cannot be asked and what to do, "" if it
	// can: the data folder's own server is unknown, and another one has other workflows.
	NoTemporal string
}

// ErrNoStore says that nothing names a store.
var ErrNoStore = errors.New("no store: run this in the folder of a `starter dev`, give its data folder with --data, or name a store with --store or " + EnvStore)

// ErrNoArchive says that nothing names an archive.
var ErrNoArchive = errors.New("no archive: name the one that belongs to the store with --archive or " + EnvArchive)

// Resolve finds the places, each in the order flag, environment, state file of
// the data folder. A damaged state file is an error only if it is needed.
//
// TEMPORAL_ADDRESS, TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE are left to the
// SDK: each of them means that Temporal is not the data folder's, and then Address
// and Namespace are empty unless they were given.
func Resolve(flags Overrides, c Config, getenv func(string) string) (Places, error) {
	p := Places{
		Store: first(flags.Store, c.Store), Archive: first(flags.Archive, c.Archive), Data: first(flags.Data, c.Data),
		Address: flags.Address, Namespace: flags.Namespace, TaskQueue: c.TaskQueue,
	}
	if hasPassword(flags.Store) {
		return Places{}, errPasswordShown
	}
	if p.Store != "" {
		if err := CheckStore(p.Store); err != nil {
			return Places{}, err
		}
	}
	elsewhere := NamesTemporal(getenv)
	state, err := ReadDevState(p.Data)
	if err != nil && (p.Store == "" || p.Address == "" && !elsewhere) {
		return Places{}, err
	}
	// A store from elsewhere has its archive elsewhere too.
	ofFolder := p.Store == ""
	if ofFolder {
		p.Store, p.Archive, p.OfFolder = state.Store, first(p.Archive, state.Archive), state.Store != ""
	}
	if p.Address == "" && !elsewhere {
		p.NoTemporal = noTemporal(state, p.Data, ofFolder)
	}
	if p.Address == "" && !elsewhere && state.TemporalAddress != "" {
		p.Address, p.FromDev = state.TemporalAddress, true
		p.TaskQueue = first(p.TaskQueue, state.TaskQueue)
		if getenv("TEMPORAL_NAMESPACE") == "" {
			p.Namespace = first(p.Namespace, state.TemporalNamespace)
		}
	}
	return p, nil
}

// NamesTemporal reports whether the SDK's variables say where Temporal is.
func NamesTemporal(getenv func(string) string) bool {
	return first(getenv("TEMPORAL_ADDRESS"), getenv("TEMPORAL_PROFILE"), getenv("TEMPORAL_CONFIG_FILE")) != ""
}

// noTemporal is Places.NoTemporal for the state of a data folder, of which the store may be
// the one in use.
func noTemporal(state DevState, data string, ofFolder bool) string {
	switch {
	case state.MovedFrom != "":
		return fmt.Sprintf("data folder %s was copied or moved from %s: run `starter dev --data %s` on it first", data, state.MovedFrom, data)
	case ofFolder && state.Store != "" && state.TemporalAddress == "":
		return fmt.Sprintf("no `starter dev` has run on data folder %s yet: run `starter dev --data %s` first", data, data)
	}
	return ""
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
