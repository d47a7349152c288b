package cli

import (
	"strings"
	"testing"

	"recrawl/internal/backup"
)

func TestBackup(t *testing.T) {
	const at = "--store=sqlite:news.db --archive=bytes "
	for _, c := range []struct {
		args   string
		env    map[string]string
		copied backup.Copied
		code   int
		call   string
		out    string
		err    string
	}{
		{
			args: at + "backup kept", copied: backup.Copied{Contents: 3, Copied: 2, Bytes: 2048},
			call: "back up sqlite:news.db bytes to kept, keep 3",
			out:  "backup 20261122T154500Z is whole: the store, 4.0 KiB, and 3 contents, 2 of them new, 2.0 KiB; removed 1 older backup and 2 contents\n",
		},
		{args: at + "backup kept --keep 1 --output json", call: "back up sqlite:news.db bytes to kept, keep 1", out: `"name":"20261122T154500Z"`},
		{
			args: at + "backup kept", copied: backup.Copied{Contents: 3, Missing: 1, Named: []string{"abc"}}, code: 1,
			call: "back up sqlite:news.db bytes to kept, keep 3", err: "1 of 3 contents cannot be had, such as abc: `starter archive verify`",
		},
		{args: at + "backup kept --keep 0", code: 2, err: "at least 1"},
		{args: "backup kept", code: 2, err: "no store"},
		{args: "--store=postgres://db/news --archive=bytes backup kept", code: 2, err: "--archive-only"},
		{
			args: "--store=postgres://db/news --archive=bytes backup kept --archive-only", copied: backup.Copied{Contents: 3, Copied: 3, Bytes: 10},
			call: "back up bytes to kept", out: "3 contents, 3 of them new, 10 B\n",
		},
		{
			args: "restore kept --data new", call: `restore kept "" to store "" archive "" data "new"`, copied: backup.Copied{Contents: 3, Copied: 2, Missing: 1},
			out: "restored 20261122T154500Z, made by recrawl/0.2.0: the store and 2 contents, 2 of them new here; 1 content lacked when it was made\n",
		},
		{
			args: "restore kept --data new --output json", call: `restore kept "" to store "" archive "" data "new"`, copied: backup.Copied{Contents: 3, Copied: 2, Bytes: 9},
			out: `{"name":"20261122T154500Z","software":"recrawl/0.2.0","contents":3,"copied":2,"copied_bytes":9,"missing":0,"damaged":0}`,
		},
		{
			args: "--archive=bytes restore kept --archive-only --output json", call: `restore kept to archive "bytes"`, copied: backup.Copied{Contents: 3, Copied: 2, Bytes: 9},
			out: `{"contents":3,"copied":2,"copied_bytes":9,"missing":0,"damaged":0}`,
		},
		{
			args: at + "restore kept --at 20261122T154500Z", copied: backup.Copied{Contents: 3, Missing: 1, Damaged: 1, Named: []string{"abc", "def"}}, code: 1,
			call: `restore kept "20261122T154500Z" to store "sqlite:news.db" archive "bytes" data "data"`, err: "2 of 3 contents cannot be had",
		},
		{args: "restore kept --at none", code: 3, err: "no whole backup"},
		{args: "--store=sqlite:news.db restore kept", code: 2, err: "no archive"},
		{args: "restore kept --archive-only", code: 2, err: "no archive"},
		{args: "restore kept", env: map[string]string{"RECRAWL_STORE": "postgres://db/news"}, code: 2, err: "pg_restore"},
		{args: "restore kept --data new", env: map[string]string{"RECRAWL_STORE": "sqlite:prod.db", "RECRAWL_ARCHIVE": "bytes"}, code: 2, err: "--data new names a data folder, and RECRAWL_STORE a store"},
		{args: "restore kept --data new --archive bytes", code: 2, err: "--archive goes with --store"},
		{args: "compact", call: `compact "data"`, out: "temporal.db: 1.0 KiB, was 4.0 KiB\n"},
		{args: "compact --data other --output json", call: `compact "other"`, out: `{"file":"temporal.db","bytes_before":4096,"bytes_after":1024}`},
		{args: "compact --data none", call: `compact "none"`, code: 3, err: "data folder"},
		{args: "compact --data full", call: `compact "full"`, code: 1, out: "temporal.db: 1.0 KiB", err: "the remaining databases are as they were: recrawl.db: disk full"},
		{args: at + "compact", code: 2, err: "data folder"},
		{args: "compact", env: map[string]string{"RECRAWL_STORE": "postgres://db/news"}, code: 2, err: "docs/operations.md"},
		{args: "undo-upgrade", call: `undo "" "data"`, out: "old.db is as it was before the upgrade: go on with the release of that time; the upgraded one is newer.db\n"},
		{args: "undo-upgrade --data new", call: `undo "" "new"`, code: 3, err: "no copy"},
		{args: "undo-upgrade --data new", env: map[string]string{"RECRAWL_STORE": "sqlite:prod.db"}, code: 2, err: "--data new names a data folder, and RECRAWL_STORE a store"},
		{args: "--store=postgres://db/news undo-upgrade", code: 2, err: "pg_dump"},
		{args: "--archive=bytes restore kept --archive-only", call: `restore kept to archive "bytes"`, out: "0 contents, 0 of them new, 0 B\n"},
	} {
		b := &fakeBackend{copied: c.copied}
		r := starterEnv(t, b, c.env, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.errOut, c.err) || strings.Join(b.calls, ";") != c.call {
			t.Errorf("%s: %d %q %q %q", c.args, r.code, r.out, r.errOut, b.calls)
		}
	}
}
