package s3

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Scheme begins the URLs that Open understands.
const Scheme = "s3://"

// form is the form of an archive's URL. Errors name it instead of the given URL,
// which may hold a secret in the wrong place.
const form = "write s3://BUCKET, s3://BUCKET/PREFIX or s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=NAME"

// place is where an archive is.
type place struct {
	bucket, prefix string // prefix is "" or ends in a slash
	endpoint       string // host or host:port
	plain          bool   // http instead of https
	amazon         bool   // the endpoint is Amazon's own
	region         string // "" to be asked of the server
}

// String is the place for people.
func (p place) String() string {
	scheme := "https://"
	if p.plain {
		scheme = "http://"
	}
	return Scheme + p.bucket + "/" + p.prefix + " at " + scheme + p.endpoint
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	// prefixName are the characters that every server and folder accepts.
	prefixName = regexp.MustCompile(`^[A-Za-z0-9!_.*'()-]+(/[A-Za-z0-9!_.*'()-]+)*$`)
	regionName = regexp.MustCompile(`^[A-Za-z0-9-]*$`)
)

// parse reads an archive's URL. Missing parts come from the variables that other S3
// programs use.
func parse(raw string, getenv func(string) string) (place, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme+"://" != Scheme || u.Opaque != "" || u.Fragment != "" {
		return place{}, errors.New("the archive's URL cannot be read: " + form)
	}
	if u.User != nil {
		return place{}, errors.New("the archive's URL has credentials, which would be shown in lists of processes and logs: give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	p := place{bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	if !bucketName.MatchString(p.bucket) {
		return place{}, errors.New("the archive's URL names no bucket: " + form)
	}
	if p.prefix != "" {
		if !prefixName.MatchString(p.prefix) || strings.Contains("/"+p.prefix+"/", "/../") || strings.Contains("/"+p.prefix+"/", "/./") {
			return place{}, errors.New("the archive's prefix may have letters, digits, !-_.*'() and single slashes")
		}
		p.prefix += "/"
	}
	options, err := optionsOf(u.RawQuery)
	if err != nil {
		return place{}, err
	}
	p.region = first(options["region"], getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"))
	if !regionName.MatchString(p.region) {
		return place{}, errors.New("the archive's region is no region: write its name, such as eu-central-1")
	}
	return p, p.setEndpoint(first(options["endpoint"], getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")))
}

func optionsOf(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the archive's URL cannot be read: " + form)
	}
	options := map[string]string{}
	for name, given := range values {
		if name != "endpoint" && name != "region" || len(given) != 1 {
			return nil, fmt.Errorf("the archive's URL has an unknown or repeated option %.40q: %s", name, form)
		}
		options[name] = given[0]
	}
	return options, nil
}

// setEndpoint sets the server's URL, "" for Amazon's.
func (p *place) setEndpoint(raw string) error {
	if raw == "" {
		p.endpoint, p.amazon = "s3.amazonaws.com", true
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the archive's endpoint is no server: write http://HOST:PORT or https://HOST, without credentials and path")
	}
	p.endpoint, p.plain = u.Host, u.Scheme == "http"
	return nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
