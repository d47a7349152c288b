package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/minio/minio-go/v7"

	"recrawl/internal/archive"
)

// Store is an archive in a bucket. A content is collected in a temporary file,
// without a name, and uploaded in one request when it is complete, so that no
// half of one ever lies in the bucket, whichever process is killed. Answers that
// say nothing about the content (no connection, no bucket, no right) are
// archive.ErrUnavailable.
type Store struct {
	place
	client *minio.Client
	// down: the last upload failed. Until the bucket answers, no content is begun: a
	// page that could not be kept must not be fetched.
	down atomic.Bool
}

var _ archive.Store = (*Store)(nil)

func (s *Store) key(digest string, c archive.Coding) string {
	return s.prefix + archive.Name(digest, c)
}

// probe asks whether the bucket exists and may be listed. Unlike the request meant
// for it, a refused listing says why.
func (s *Store) probe(ctx context.Context) error {
	_, err := s.Empty(ctx)
	return err
}

// Empty reports whether nothing is at the archive's place in the bucket, whatever its name.
func (s *Store) Empty(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the library's work for an abandoned listing
	for o := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true, MaxKeys: 1}) {
		return false, s.fault(ctx, o.Err)
	}
	return true, archive.CheckContext(ctx)
}

// Create implements archive.Store.
func (s *Store) Create(ctx context.Context) (archive.Writer, error) {
	if err := archive.CheckContext(ctx); err != nil {
		return nil, err
	}
	if s.down.Load() {
		if err := s.probe(ctx); err != nil {
			return nil, err
		}
		s.down.Store(false)
	}
	return archive.NewSpool(ctx, "", func(digest string, spool *archive.Spool) error {
		err := spool.Encoded(func(content io.ReadSeeker, size int64, c archive.Coding) error {
			return s.upload(ctx, s.key(digest, c), content, size)
		})
		s.down.Store(errors.Is(err, archive.ErrUnavailable))
		return err
	})
}

// upload stores an object unless one of its name and size exists.
func (s *Store) upload(ctx context.Context, key string, content io.Reader, size int64) error {
	there, err := s.client.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err == nil && there.Size == size {
		return nil
	}
	if err != nil && !missing(err) {
		return s.fault(ctx, err)
	}
	// The server compares the MD5 before it shows the object. Never in parts: a killed
	// process would leave them behind.
	_, err = s.client.PutObject(ctx, s.bucket, key, content, size, minio.PutObjectOptions{SendContentMd5: true, DisableMultipart: true})
	return s.fault(ctx, err)
}

// Open implements archive.Store.
func (s *Store) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	if err := archive.Check(ctx, digest); err != nil {
		return nil, err
	}
	for _, c := range archive.Codings() {
		body, _, _, err := minio.Core{Client: s.client}.GetObject(ctx, s.bucket, s.key(digest, c), minio.GetObjectOptions{})
		if err == nil {
			return archive.Decode(object{body, s, ctx}, c, digest), nil
		}
		if !missing(err) {
			return nil, s.fault(ctx, err)
		}
	}
	return nil, fmt.Errorf("%w: %s", archive.ErrNotFound, digest)
}

// object is an object's body.
type object struct {
	io.ReadCloser
	store *Store
	ctx   context.Context //nolint:containedctx // io.Reader has none
}

func (o object) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = o.store.fault(o.ctx, err)
	}
	return n, err
}

// Has implements archive.Store.
func (s *Store) Has(ctx context.Context, digest string) (bool, error) {
	if err := archive.Check(ctx, digest); err != nil {
		return false, err
	}
	for _, c := range archive.Codings() {
		_, err := s.client.StatObject(ctx, s.bucket, s.key(digest, c), minio.StatObjectOptions{})
		if err == nil {
			return true, nil
		}
		if !missing(err) {
			return false, s.fault(ctx, err)
		}
	}
	// The answer to a HEAD request has no body to say that the bucket is missing.
	return false, s.probe(ctx)
}

// Delete implements archive.Store.
func (s *Store) Delete(ctx context.Context, digest string) error {
	if err := archive.Check(ctx, digest); err != nil {
		return err
	}
	for _, c := range archive.Codings() {
		err := s.client.RemoveObject(ctx, s.bucket, s.key(digest, c), minio.RemoveObjectOptions{})
		if err != nil && !missing(err) {
			return s.fault(ctx, err)
		}
	}
	return nil
}

// List implements archive.Store.
func (s *Store) List(ctx context.Context, after string) iter.Seq2[archive.Info, error] {
	return archive.InOrder(after, func(yield func(archive.Info, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // ends the library's work for an abandoned listing
		options := minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true}
		if after != "" {
			options.StartAfter = s.key(after, archive.Plain)
		}
		for o := range s.client.ListObjectsIter(ctx, s.bucket, options) {
			if o.Err != nil {
				yield(archive.Info{}, s.fault(ctx, o.Err))
				return
			}
			digest, _, ok := archive.ParseName(strings.TrimPrefix(o.Key, s.prefix))
			if ok && !yield(archive.Info{Digest: digest, Size: o.Size, At: o.LastModified}, nil) {
				return
			}
		}
		if err := archive.CheckContext(ctx); err != nil {
			yield(archive.Info{}, err)
		}
	})
}

// missing reports whether an error says that an object does not exist.
func missing(err error) bool {
	answer := minio.ToErrorResponse(err)
	return answer.Code == minio.NoSuchKey
}

// fault turns one of the library's errors into one for people, or
// archive.ErrUnavailable. It drops the wrapped errors: URLs and the server's own
// prose.
func (s *Store) fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if err := archive.CheckContext(ctx); err != nil {
		return err
	}
	kind := archive.ErrUnavailable
	if full(err) {
		kind = archive.ErrFull
	}
	return fmt.Errorf("%w: %s: %s", kind, s.place, words(err))
}

// full reports whether an error says that there is no room: in the bucket, or here,
// where contents are collected. Servers have no common code for it.
func full(err error) bool {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		return answer.StatusCode == http.StatusInsufficientStorage || slices.Contains(fullCodes, answer.Code)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// fullCodes are MinIO's and Ceph's.
var fullCodes = []string{"XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded"}

// words describes the error in words.
func words(err error) string {
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		var trouble *url.Error
		if errors.As(err, &trouble) {
			err = trouble.Err
		}
		return err.Error()
	}
	switch answer.Code {
	case minio.NoSuchBucket:
		return "there is no such bucket"
	case minio.AccessDenied:
		return "access is denied: the credentials need the rights to list the bucket, and to get, put and delete its objects"
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "InvalidClientTokenId":
		return fmt.Sprintf("the credentials are refused (%s)", answer.Code)
	case minio.InvalidRegion, minio.AuthorizationHeaderMalformed:
		return "the bucket is in another region: name it with region= or AWS_REGION"
	case "RequestTimeTooSkewed":
		return "this machine's clock is wrong"
	}
	return fmt.Sprintf("the server answered %d %q", answer.StatusCode, answer.Code)
}
