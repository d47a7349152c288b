package report

import (
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive/gc"
)

// What a killed deletion has claimed is not deleted yet: whoever asks again learns of it.
func TestCollectedSaysWhatIsClaimed(t *testing.T) {
	t.Parallel()
	for format, want := range map[Format]string{
		Text: "deleted 0 contents that no version has, 0 B; 30 more are claimed by another command or worker, which deletes them; if it was killed, they can be deleted in 10m\n",
		JSON: `{"deleted":0,"bytes":0,"kept":31,"young":0,"older_than":"1d","dry_run":false,"claimed":30}` + "\n",
	} {
		var out strings.Builder
		err := ArchiveCollected{Collected: gc.Collected{Kept: 31, Claimed: 30}, Age: 24 * time.Hour}.Write(&out, format)
		if err != nil || out.String() != want {
			t.Errorf("%s: %q, %v; want %q", format, out.String(), err, want)
		}
	}
}
