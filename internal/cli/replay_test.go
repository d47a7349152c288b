package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReplayOfAFile(t *testing.T) {
	t.Parallel()
	b := &fakeBackend{}
	got := starterEnv(t, b, map[string]string{"RECRAWL_REPLAY": "/opt/wabac"}, "replay", "news.wacz")
	if got.code != ExitOK || got.errOut != "" || b.replay == nil {
		t.Fatalf("%+v", got)
	}
	if o := b.replay; o.File != "news.wacz" || o.Listen != "127.0.0.1:8235" || o.Player != "/opt/wabac" || o.Prepare != nil {
		t.Errorf("%+v", o)
	}
	for listen, want := range map[string]string{"0.0.0.0:8235": "can be reached from other machines", "8235": "write HOST:PORT", "[::1]:0": "", "localhost:9": ""} {
		b := &fakeBackend{}
		got := starter(t, b, "replay", "./news", "--listen", listen)
		if (got.code == ExitUsage) != (want != "") || !strings.Contains(got.errOut, want) || (b.replay == nil) != (want != "") {
			t.Errorf("%s: %+v", listen, got)
		}
	}
}

// A crawl is exported to a folder that is gone afterwards.
func TestReplayOfACrawl(t *testing.T) {
	t.Parallel()
	env := map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_ARCHIVE": "files", "RECRAWL_DATA": t.TempDir()}
	b := &fakeBackend{}
	if got := starterEnv(t, b, env, "replay", "news"); got.code != ExitOK || b.replay == nil || b.replay.Prepare == nil || filepath.Base(b.replay.File) != "news.wacz" {
		t.Fatalf("%+v, %+v", got, b.replay)
	}
	if _, err := os.Stat(filepath.Dir(b.replay.File)); !os.IsNotExist(err) {
		t.Errorf("the temporary folder: %v", err)
	}
	if got := starterEnv(t, &fakeBackend{}, map[string]string{"RECRAWL_DATA": t.TempDir()}, "replay", "news"); got.code != ExitUsage {
		t.Errorf("without a store: %+v", got)
	}
}
