package extract

import "testing"

// Links that change something, by what they say to scripts, are not to be followed.
func TestLinksThatAct(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body     string
		noFollow bool
	}{
		{`<a href=/x data-method="delete">Log out</a>`, true},
		{`<a href=/x data-turbo-method=PATCH>Publish</a>`, true},
		{`<a href=/x data-ajax-method=Post>Vote</a>`, true},
		{`<a href=/x hx-post=/vote>Vote</a>`, true},
		{`<a href=/x data-hx-delete>Delete</a>`, true},
		{`<a href=/x data-confirm="Are you sure?">Delete</a>`, true},
		{`<a href=/x onclick="return confirm('Delete this page?')">Delete</a>`, true},
		{`<a href=/x onclick="if (window.confirm ('Sure?')) go()">Delete</a>`, true},
		{`<map><area href=/x onclick="return confirm('Sure?')"></map>`, true},
		{`<a href=/x data-method=get>List</a>`, false},
		{`<a href=/x data-method="">List</a>`, false},
		{`<a href=/x hx-get=/list>List</a>`, false},
		{`<a href=/x data-confirm=false>List</a>`, false},
		{`<a href=/x data-remote=true onclick="track('x')">List</a>`, false},
		{`<a href=/x onclick="age_confirm(18)">Shop</a>`, false},
		{`<a href=/x data-method=delete>Delete</a><a href=/x>Show</a>`, false},
		{`<a href=https://example.org/x onclick="return confirm('You leave our site.')">Partner</a>`, false},
		{`<a href=https://www.example.com/x data-confirm="Sure?">Delete</a>`, true},
		{`<a href=https://example.org/x data-method=post>Pay</a>`, true},
	} {
		if got := one(t, c.body); got.NoFollow != c.noFollow {
			t.Errorf("%s: nofollow %v", c.body, got.NoFollow)
		}
	}
}
