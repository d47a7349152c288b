package crawl

import (
	"strings"
	"testing"
)

func TestRankSpec(t *testing.T) {
	t.Parallel()
	for rank, field := range map[string]string{
		`{}`: "", `{"every":"0"}`: "", `{"every":"1s","damping":0.5,"personalised":true,"margin":0,"max_evictions":1}`: "",
		`{"every":"999ms"}`: "rank.every", `{"every":1}`: "rank.every", `{"damping":1}`: "rank.damping", `{"damping":0}`: "rank.damping",
		`{"margin":-0.1}`: "rank.margin", `{"margin":1e9}`: "rank.margin", `{"max_evictions":5}`: "rank.max_evictions", `{"max_evictions":-1}`: "rank.max_evictions",
		`{"often":true}`: "rank.often",
	} {
		_, err := ParseSpec([]byte(`{"name":"n","seeds":["https://example.com/"],"rank":` + rank + `}`))
		switch {
		case field == "" && err != nil:
			t.Errorf("%s: %v", rank, err)
		case field != "" && (err == nil || !strings.HasPrefix(err.Error(), "spec: "+field+": ")):
			t.Errorf("%s: %v, want a problem with %s", rank, err, field)
		}
	}
}
