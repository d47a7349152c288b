package web

import (
	"slices"
	"testing"
)

// Each view and each button is described to programs, and nothing else.
func TestEveryAddressIsDescribed(t *testing.T) {
	t.Parallel()
	var there, told []string
	for _, v := range views() {
		there = append(there, "GET "+v.pattern)
	}
	for _, a := range actions() {
		there = append(there, "POST "+a.pattern)
	}
	for _, o := range viewOperations() {
		told = append(told, "GET "+o.pattern)
	}
	for _, o := range buttonOperations() {
		told = append(told, "POST "+o.pattern)
	}
	slices.Sort(there)
	slices.Sort(told)
	if !slices.Equal(there, told) {
		t.Errorf("there are\n%q\nand openapi_views.go describes\n%q", there, told)
	}
}
