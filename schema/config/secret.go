package config

import (
	"encoding/base64"
	"errors"
	"strings"
)

// WebhookSecrets parses a webhook-secret-file: one key per line, "whsec_" and the base64 of 24 to 64
// bytes (Standard Webhooks 1.0). There are two keys during a key change; the first one stays. Errors do
// not reveal the keys.
func WebhookSecrets(text []byte) (keys [][]byte, err error) {
	const most = 2
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		code, ok := strings.CutPrefix(line, "whsec_")
		key, err := base64.StdEncoding.DecodeString(code)
		if !ok || err != nil || len(key) < 24 || len(key) > 64 {
			return nil, errors.New("has a line that is not \"whsec_\" and the base64 of 24 to 64 bytes")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 || len(keys) > most {
		return nil, errors.New("must hold one line \"whsec_...\", or two while the secret is being changed")
	}
	return keys, nil
}
