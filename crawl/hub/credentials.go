package hub

import (
	"bytes"
	"fmt"
	"os"
	"runtime"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// CheckCredentials reports with [ErrFile] why a file cannot say who a node is. Without a name there is nothing to
// check.
func CheckCredentials(path string) error {
	if path == "" {
		return nil
	}
	_, err := credentials(path)
	return err
}

// credentials reads a file that says who a node is: the seed of its NKey, NATS
// credentials (a JWT with a seed), or a token that all have.
func credentials(path string) ([]nats.Option, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%w: %s must be a file that only its owner can read: chmod 600", ErrFile, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrFile, path)
	case bytes.HasPrefix(text, []byte("-----BEGIN")):
		return []nats.Option{nats.UserCredentials(path)}, nil
	case bytes.HasPrefix(text, []byte("SU")):
		if pair, err := nkeys.FromSeed(text); err == nil {
			return signed(pair)
		}
	}
	return []nats.Option{nats.TokenHandler(func() string { return again(path, text) })}, nil
}

// again returns the token that is in a file now, or else the one that was in it before. A hub whose store was lost,
// with the token in it, has another one when it comes back.
func again(path string, before []byte) string {
	text, err := os.ReadFile(path)
	if text = bytes.TrimSpace(text); err != nil || len(text) == 0 {
		text = before
	}
	return string(text)
}

// signed proves who the node is by its key.
func signed(pair nkeys.KeyPair) ([]nats.Option, error) {
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return []nats.Option{nats.Nkey(public, pair.Sign), nats.CustomInboxPrefix(inbox(public))}, nil
}
