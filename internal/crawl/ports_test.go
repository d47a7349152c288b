package crawl

import (
	"slices"
	"strings"
	"testing"
)

func TestBadPort(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(badPorts) || len(slices.Compact(slices.Clone(badPorts))) != 83 {
		t.Errorf("%d bad ports: the standard has 83, and they must be in order", len(badPorts))
	}
	for _, port := range []string{"0", "1", "22", "25", "0025", "6000", "6665", "6669", "10080"} {
		if !BadPort(port) {
			t.Errorf("port %s is taken", port)
		}
	}
	for _, port := range []string{"", "2", "80", "443", "3000", "5000", "8000", "8080", "8443", "10081", "65535"} {
		if BadPort(port) {
			t.Errorf("port %s is refused", port)
		}
	}
}

// A seed on a bad port is refused where a person reads it, with what to do.
func TestSeedOnABadPort(t *testing.T) {
	t.Parallel()
	err := CheckSeed("http://mail.example.com:25/")
	if err == nil || !strings.Contains(err.Error(), "port 25") || strings.Contains(err.Error(), "\n") {
		t.Errorf("CheckSeed says %v", err)
	}
	if _, err := ParseSpec([]byte(`{"name":"a","seeds":["http://a.example/","http://a.example:6000/"]}`)); err == nil || !strings.HasPrefix(err.Error(), "spec: seeds[1]: ") {
		t.Errorf("ParseSpec says %v", err)
	}
}
