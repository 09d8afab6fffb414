package hub

import (
	"bytes"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// CheckCredentials returns [ErrFile] if a file cannot be used as a node's credentials. An empty path is not
// checked.
func CheckCredentials(path string) error {
	if path == "" {
		return nil
	}
	_, err := credentials(path)
	return err
}

// credentials reads a node's credentials: the seed of its NKey, NATS credentials (a JWT with a seed), or a
// shared token.
func credentials(path string) ([]nats.Option, error) {
	if err := disk.Secret(path); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
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

// again returns the token in a file, or the previous one if there is none. A hub that lost its store, with
// the token in it, returns with another token.
func again(path string, before []byte) string {
	text, err := os.ReadFile(path)
	if text = bytes.TrimSpace(text); err != nil || len(text) == 0 {
		text = before
	}
	return string(text)
}

// signed authenticates the node by its key.
func signed(pair nkeys.KeyPair) ([]nats.Option, error) {
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return []nats.Option{nats.Nkey(public, pair.Sign), nats.CustomInboxPrefix(inbox(public))}, nil
}
