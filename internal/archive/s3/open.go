// Package s3 keeps an archive in a bucket of Amazon S3 or of a server that speaks
// its protocol. Objects lie under the names that files have in a folder, so that
// one can be copied into the other.
package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"recrawl/internal/archive"
)

const (
	// tries is how many times a request is made that fails in a way that may pass:
	// over two seconds or so. Anything longer is an outage, for which the caller
	// waits.
	tries = 4
	// silence is how long a connection may move nothing before it is given up.
	silence = time.Minute
	// openFor bounds the first check of the bucket, for a person who waits.
	openFor = 30 * time.Second
)

// Open opens an archive at s3://BUCKET/PREFIX?endpoint=URL&region=NAME. The bucket
// must exist. Parts that the URL leaves out, and the credentials, which it may not
// have, come from the usual sources of S3 programs: AWS_* variables, the shared
// credentials file, and on Amazon's machines the role. Errors are one line and
// reveal no secret.
func Open(ctx context.Context, url string, getenv func(string) string) (*Store, error) {
	p, err := parse(url, getenv)
	if err != nil {
		return nil, err
	}
	s, err := connect(p, getenv, silence)
	if err != nil {
		return nil, err
	}
	return s, s.look(ctx, openFor)
}

// look is probe with its own time limit.
func (s *Store) look(ctx context.Context, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := s.probe(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("%w: %s: no answer within %s", archive.ErrUnavailable, s.place, limit)
	}
	return err
}

// connect makes the client; it says nothing to the server yet.
func connect(p place, getenv func(string) string, silence time.Duration) (*Store, error) {
	creds, err := credentialsOf(p, getenv)
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", p, err)
	}
	transport, err := minio.DefaultTransport(!p.plain)
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", p, err)
	}
	dialer := net.Dialer{Timeout: 10 * time.Second}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return lively{conn, silence}, nil
	}
	client, err := minio.New(p.endpoint, &minio.Options{
		Creds: creds, Secure: !p.plain, Transport: transport, Region: p.region, MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", p, err)
	}
	return &Store{place: p, client: client}, nil
}

// credentialsOf finds the credentials and makes sure that there are some: otherwise
// the library would make anonymous requests, and be refused for reasons that nobody
// would guess.
func credentialsOf(p place, getenv func(string) string) (*credentials.Credentials, error) {
	id, secret := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY")
	switch {
	case id != "" && secret != "":
		return credentials.NewStaticV4(id, secret, getenv("AWS_SESSION_TOKEN")), nil
	case id != "" || secret != "":
		return nil, errors.New("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: set both")
	}
	sources := []credentials.Provider{
		&credentials.FileAWSCredentials{Filename: getenv("AWS_SHARED_CREDENTIALS_FILE"), Profile: getenv("AWS_PROFILE")},
	}
	// The role's address is a link-local one, which elsewhere may be anybody's.
	role := first(getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"))
	if p.amazon || role != "" {
		sources = append(sources, &credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second}})
	}
	found := credentials.New(&credentials.Chain{Providers: sources})
	value, err := found.GetWithContext(nil)
	if err != nil || value.AccessKeyID == "" {
		return nil, errors.New("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	}
	return found, nil
}

// lively is a connection that is given up when it moves nothing for a while. A
// write counts for the reader too, which waits for the answer meanwhile.
type lively struct {
	net.Conn
	silence time.Duration
}

func (l lively) Read(p []byte) (int, error) {
	if err := l.SetDeadline(time.Now().Add(l.silence)); err != nil {
		return 0, err
	}
	return l.Conn.Read(p)
}

func (l lively) Write(p []byte) (int, error) {
	if err := l.SetDeadline(time.Now().Add(l.silence)); err != nil {
		return 0, err
	}
	return l.Conn.Write(p)
}
