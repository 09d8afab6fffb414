// Package output is the table of the files that Ripple makes of a map: which flag and which key names each, what it
// must not replace, how it is written, and what the desk offers of it. The stored pages are written here as well; the
// writers of the other formats are below export.
package output
