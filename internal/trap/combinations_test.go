package trap

import (
	"fmt"
	"testing"
)

// TestCombinedParametersKeepProducts: in a shop whose addresses say the program's part, the
// category and the product, sorted lists carry their order into the products' addresses. Only
// those are held.
func TestCombinedParametersKeepProducts(t *testing.T) {
	t.Parallel()
	const products, perCategory = 300, 30
	product := func(n int, with string) string {
		return fmt.Sprintf("/index.php?route=product/product&path=%d&product_id=%d%s", n/perCategory, n, with)
	}
	pages := pagesOf(t, func(add func(format string, args ...any)) {
		for n := range products {
			add("%s", product(n, ""))
		}
		for _, field := range []string{"name", "price", "rating", "model"} {
			for _, order := range []string{"ASC", "DESC"} {
				with := "&sort=" + field + "&order=" + order
				for n := range 4 * perCategory {
					add("%s", product(n, with))
				}
				for category := range products / perCategory {
					add("/index.php?route=product/category&path=%d%s", category, with)
					add("/index.php?route=product/category&path=%d%s&limit=25", category, with)
				}
			}
		}
		for category := range products / perCategory { // one product is recommended everywhere
			add("/index.php?route=product/category&path=%d", category)
			add("/index.php?route=product/category&path=%d&limit=25", category)
			add("/index.php?route=product/category&path=%d&page=2", category)
			add("/index.php?route=product/product&product_id=%d", category*perCategory)
		}
	})
	found := Look(pages, year, nil)
	if len(found) != 1 || found[0].Reason != ReasonParams || found[0].Pattern.String() != "h.example/index.php?4+" {
		t.Fatalf("found %+v, want the parameters from four on", found)
	}
	for n := range products {
		if u := canonical(t, "http://h.example"+product(n, "")); found[0].Pattern.Covers(u) {
			t.Fatalf("%s is held", u)
		}
	}
	if u := canonical(t, "http://h.example"+product(7, "&sort=name&order=ASC")); !found[0].Pattern.Covers(u) {
		t.Errorf("%s is not held", u)
	}
}

// TestCombinedFilters are held from three on, as no filter needs another.
func TestCombinedFilters(t *testing.T) {
	t.Parallel()
	pages := pagesOf(t, func(add func(format string, args ...any)) {
		for colour := range 4 {
			add("/shop?colour=%d", colour)
			for size := range 4 {
				add("/shop?colour=%d&size=%d", colour, size)
				add("/shop?brand=%d&size=%d", colour, size)
				add("/shop?brand=%d&price=%d", colour, size)
				for more := range 4 {
					add("/shop?brand=%d&colour=%d&size=%d", colour, size, more)
					add("/shop?brand=%d&price=%d&size=%d", colour, size, more)
					add("/shop?colour=%d&price=%d&size=%d", colour, size, more)
					add("/shop?colour=%d&price=%d", more, size)
					add("/shop?brand=%d&colour=%d&price=%d&size=%d", colour, size, more, size)
				}
			}
		}
	})
	found := Look(pages, year, nil)
	if len(found) != 1 || found[0].Pattern.String() != "h.example/shop?3+" {
		t.Errorf("found %+v, want the parameters from three on", found)
	}
}

// TestFiltersOfSeveralValues: a filter that is given several times combines like several filters.
func TestFiltersOfSeveralValues(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]func(n int, value string) string{
		"one name":       func(_ int, value string) string { return "limit=" + value },
		"numbered names": func(n int, value string) string { return fmt.Sprintf("f[%d]=%s", n, value) },
		"a list":         func(_ int, value string) string { return "filter[]=" + value },
	} {
		values := []string{"red", "large", "wool", "new", "cheap"}
		pages := pagesOf(t, func(add func(format string, args ...any)) {
			for chosen := 1; chosen < 1<<len(values); chosen++ {
				query, n := "/search?q=hats", 0
				for i, value := range values {
					if chosen>>i&1 == 1 {
						query, n = query+"&"+filter(n, value), n+1
					}
				}
				for _, more := range []string{"", "&sort=name", "&page=2"} {
					add("%s", query+more)
				}
			}
		})
		found := Look(pages, year, nil)
		if len(found) != 1 || found[0].Reason != ReasonParams || found[0].Pattern.String() != "h.example/search?3+" {
			t.Errorf("%s: found %+v", name, found)
		}
	}
	// A list of things that are compared is none.
	pages := pagesOf(t, func(add func(format string, args ...any)) {
		for n := range 200 {
			add("/compare?item=%d&item=%d", n, n+1)
			add("/compare?item=%d&item=%d&item=%d", n, n+1, n+2)
		}
	})
	if found := Look(pages, year, nil); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

func TestSamePart(t *testing.T) {
	t.Parallel()
	shop := Pattern{Kind: KindParams, Host: "h.example", Path: []string{"shop"}, Params: 3}
	for _, c := range []struct {
		other Pattern
		want  bool
	}{
		{Pattern{Kind: KindParams, Host: "h.example", Path: []string{"shop"}, Params: 5}, true},
		{Pattern{Kind: KindParams, Host: "h.example", Path: []string{"list"}, Params: 3}, false},
		{Pattern{Kind: KindParams, Host: "g.example", Path: []string{"shop"}, Params: 3}, false},
		{Pattern{Kind: KindPrefix, Host: "h.example", Path: []string{"shop"}}, false},
	} {
		if got := shop.SamePart(c.other); got != c.want {
			t.Errorf("%s and %s: %t", shop, c.other, got)
		}
	}
}
