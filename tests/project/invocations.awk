# SPDX-License-Identifier: Apache-2.0
# Usage: awk -f invocations.awk LISTING FILE...     LISTING: of kwhy help --all
# Complains of each kwhy command line in documents, scripts and messages that names a command or an option that is not there.
BEGIN { FS = "\t" }

FNR == NR {
	known[$1] = 1
	split($1, names, " ")
	first_word[names[1]] = 1
	if ($2 == "-")
		takes_command[$1] = $4 ~ /CMD/
	option[$1, $2] = option[$1, $3] = 1
	has_value[$1, $2] = has_value[$1, $3] = $4 !~ /^(-|\[.*)$/
	next
}

FNR == 1 { is_page = FILENAME ~ /\.(md|scd)$/; is_source = FILENAME ~ /\.[ch]$/; is_fenced = 0; line = "" }
is_page && /^```/ { is_fenced = !is_fenced; next }
{ line = line (line == "" ? "" : " ") $0 }
line ~ /\\$/ { sub(/\\$/, "", line); next }
{ is_prose = is_page && !is_fenced && line !~ /^(    |\t)/ }
is_prose && gsub(/`/, "`", line) % 2 { next } # code goes on in the next line
{ read_line(line); line = "" }

END {
	printf "%d command lines, %d options\n", lines, options
	exit bad || lines < least
}

function complain(words)
{
	print FILENAME ":" FNR ": " words
	bad = 1
}

# The word as a shell would see it, about.
function plain(word)
{
	sub(/^\$\{[A-Za-z_]+:\+/, "", word)
	gsub(/["'`*()]/, "", word)
	gsub(/[.,:;}\]]+$/, "", word)
	sub(/^\[/, "", word)
	return word
}

# Is it kwhy itself, or a list of words that begins with it? The command of such a list is in `begun`.
function is_kwhy(raw, word)
{
	begun = ""
	if (match(raw, /\$\{[a-z_]+\[@\]/) && ((FILENAME, substr(raw, RSTART + 2, RLENGTH - 5)) in lists)) {
		begun = lists[FILENAME, substr(raw, RSTART + 2, RLENGTH - 5)]
		return 1
	}
	if (is_prose && raw !~ /^[(|]*[`*]/)
		return 0
	return word == "kwhy" || word ~ /^\$\{?(kwhy|program|KWHY)(\/bin\/kwhy)?$/ || word ~ /\/bin\/kwhy$/
}

function read_line(line,    words, count, i, raw, word, list)
{
	count = split(line, words, /[ \t]+/)
	for (i = 1; i <= count; i++) {
		raw = words[i]
		list = match(raw, /^[a-z_]+=\("/) ? substr(raw, 1, RLENGTH - 3) : ""
		if (list != "")
			raw = substr(raw, RLENGTH)
		word = plain(raw)
		if (is_kwhy(raw, word) && raw !~ /[`*][.,:;)]*$/)
			i = read_command(words, count, i + 1, list, raw ~ /^`/)
	}
}

# From the name of the command on; gives the place of its last word.
function read_command(words, count, i, list, is_code,    command, two)
{
	command = begun
	if (command == "") {
		two = plain(words[i]) " " plain(words[i + 1])
		command = two in known ? two : plain(words[i])
		if (!(command in known)) {
			if (is_code && command ~ /^[a-z]+$/ && !(command in first_word))
				complain("no such command: kwhy " two)
			return i - 1
		}
		i += command == two ? 1 : 0
	} else
		i--
	if (list != "")
		lists[FILENAME, list] = command
	lines++
	while (!ends(words[i], words[i + 1], command) && ++i <= count)
		i += read_option(command, words[i])
	return i
}

# Does the command end with this word, or before the next one?
function ends(raw, after, command)
{
	if (raw ~ /[;`]$|[`*][.,:;)]*$/ || after == "" || after ~ /^(--|[|]+|&&|;|[0-9]?>.*|<.*)$/)
		return 1
	if (is_source) # a sentence
		return raw ~ /[.,;:]$/ || after !~ /^-/
	return takes_command[command] && plain(after) !~ /^-/
}

# How many of the words after it belong to it.
function read_option(command, raw,    word, name)
{
	word = plain(raw)
	name = word
	sub(/[=[].*/, "", name)
	if (name !~ /^(--[a-z][a-z0-9-]*|-[a-zA-Z])$/)
		return 0
	options++
	if (!((command, name) in option)) {
		complain("kwhy " command " has no " name)
		return 0
	}
	return has_value[command, name] && word !~ /=/ && raw !~ /[`*]$/
}
