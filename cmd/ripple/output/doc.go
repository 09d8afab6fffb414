// Package output is the table of the files that Ripple makes from a map: the flag and the key that
// name each, what it must not replace, how it is written, and how the desk offers it. It also
// writes the stored pages; the writers of the other formats are below export.
package output
