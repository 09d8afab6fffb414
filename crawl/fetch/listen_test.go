package fetch

import (
	"io"
	"log"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
