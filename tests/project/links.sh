#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that every relative link and anchor in Markdown files exists, and that pages are short: a page of docs/ has at
# most 1,500 words, all of them together at most 30,000, README.md at most 140 lines. docs/results, docs/adr,
# docs/formats and docs/man have no limit.
# Usage: links.sh SOURCE_DIR
set -euo pipefail
cd "$1"
python3 - << 'LINKS'
import glob, os, re, subprocess, sys

PAGE_WORDS, ALL_WORDS, README_LINES = 1500, 30000, 140
bad = []


def markdown_files():
    """Those of git where there is a checkout, else all but what is built."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [path for path in sorted(set(listed.stdout.split("\n"))) if path and os.path.exists(path)]
    return sorted(path for path in glob.glob("**/*.md", recursive=True) if not re.search(r"(^|/)(build|node_modules)/", path))


def prose_of(path):
    """The text without blocks of code and code in a line, whose brackets are no links."""
    text = re.sub(r"^(```|~~~).*?^\1", "", open(path, encoding="utf-8").read(), flags=re.M | re.S)
    return text, re.sub(r"`[^`]*`", "", text)


def anchor_of(heading):
    """As GitHub makes it: lower case, no punctuation, hyphens for spaces."""
    heading = re.sub(r"\]\([^)]*\)", "]", heading.strip()).lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors_of(path, known={}):
    if path not in known:
        text, _ = prose_of(path)
        known[path] = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
        for heading in re.findall(r"^#{1,6} (.*?)#*$", text, re.M):
            anchor, again = anchor_of(heading), 0
            while anchor + (f"-{again}" if again else "") in known[path]:
                again += 1
            known[path].add(anchor + (f"-{again}" if again else ""))
    return known[path]


def check_link(page, link):
    target, _, anchor = link.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
    if not os.path.exists(path):
        bad.append(f"{page}: {link}: no such file")
    elif anchor and path.endswith(".md") and anchor not in anchors_of(path):
        bad.append(f"{page}: {link}: no such heading")


pages, links = markdown_files(), 0
for page in pages:
    _, prose = prose_of(page)
    for link in re.findall(r"\]\(\s*([^)\s]+)[^)]*\)", prose) + re.findall(r"^\[[^]]+\]:\s+(\S+)", prose, re.M):
        if not re.match(r"[a-z]+:", link):
            check_link(page, link)
            links += 1
bad += [] if links > 150 else [f"only {links} links were found"]

words = {page: len(open(page, encoding="utf-8").read().split()) for page in glob.glob("docs/*.md")}
bad += [f"{page} has {count} words, more than {PAGE_WORDS}" for page, count in sorted(words.items()) if count > PAGE_WORDS]
if sum(words.values()) > ALL_WORDS:
    bad.append(f"docs/*.md have {sum(words.values())} words, more than {ALL_WORDS}")
lines = len(open("README.md", encoding="utf-8").read().splitlines())
if lines > README_LINES:
    bad.append(f"README.md has {lines} lines, more than {README_LINES}")

print("\n".join(bad) or f"{links} links of {len(pages)} files; {sum(words.values())} words in {len(words)} pages; README {lines} lines")
sys.exit(bool(bad))
LINKS
