#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the tree uses no word that docs/terms.md denies, and that no struct, enum or union has two definitions.

usage: vocabulary.py SOURCE_DIR

Plain words of the columns "not" must not be in help, messages, comments or pages; `quoted` ones must not be a part of
an identifier.
"""
import functools
import os
import re
import subprocess
import sys

CODE = ('.c', '.h', '.def', '.cc', '.cu')
HISTORIC = ('docs/results/', 'docs/adr/', 'lab/results/', 'examples/', 'tests/fuzz/corpus/', 'profiles/')
FOLDERS = ('src/', 'include/', 'lab/', 'bench/', 'tests/', 'docs/', 'web/src/', 'bindings/', 'packaging/',
           'monitoring/')
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*', re.S)
QUOTED = re.compile(r'```.*?```|`[^`\n]+`|\]\([^)\n]*\)|^ {4}[^\n]*', re.S | re.M)
FORMATS = re.compile(r'^[a-z0-9_./-]*$')


def denied(page):
    """Returns the plain words, and the parts of identifiers, of the columns "not"."""
    words, parts = set(), set()
    for line in page.split('\n'):
        cells = [cell.strip() for cell in re.sub(r'\\\|', ' ', line).strip('|').split('|')]
        if not line.startswith('|') or len(cells) != 4 or cells[3] in ('not', '---'):
            continue
        for entry in filter(None, (entry.strip() for entry in cells[3].split(','))):
            (parts if entry.startswith('`') else words).add(entry.strip('`'))
    return words, frozenset(parts)


def files(root):
    listed = subprocess.run(['git', '-C', root, 'ls-files', '-co', '--exclude-standard'], capture_output=True, text=True)
    paths = listed.stdout.split('\n') if listed.returncode == 0 else []
    if not paths:
        for folder in FOLDERS:
            for place, _, names in os.walk(os.path.join(root, folder)):
                paths += [os.path.relpath(os.path.join(place, name), root) for name in names]
    for path in sorted(filter(None, paths)):
        if not path.startswith(HISTORIC) and path != 'docs/terms.md' and os.path.isfile(os.path.join(root, path)):
            if path.startswith(FOLDERS) or (path.endswith('.md') and '/' not in path and path != 'CHANGELOG.md'):
                yield path


def prose(path, text):
    """Yields (offset, text) of everything that people read."""
    if path.endswith(('.md', '.scd')):
        yield 0, QUOTED.sub(lambda match: re.sub(r'\S', ' ', match.group()), text)
    elif path.endswith(CODE + ('.ts',)):
        for match in TOKEN.finditer(text):
            token = match.group()
            # strings of tests are left out, because they repeat what the program prints
            said = token[0] == '"' and not path.startswith('tests/') and not FORMATS.match(token[1:-1])
            if said or token.startswith(('/*', '//')):
                yield match.start(), token


def identifiers(path, text):
    if path.endswith(CODE):
        for match in TOKEN.finditer(text):
            if match.group()[0].isalpha() or match.group()[0] == '_':
                yield match.start(), match.group()


def spelled(words):
    """Returns one pattern for all words, which also matches across line breaks of comments."""
    blank = r'(?:\s*\n\s*(?:\*|//)?\s*|\s+)'
    return re.compile(r'(?<![\w-])(?:' + '|'.join(re.escape(word).replace(r'\ ', blank) for word in sorted(words)) +
                      r')(?![\w-])', re.I)


@functools.lru_cache(maxsize=None)
def has_part(name, parts):
    pieces = name.replace('LEAST_SQUARES', 'SQUARES').split('_')  # a method of fitting, no limit
    lower = {piece.lower() for piece in pieces}
    for part in parts:
        if part.isupper():
            if name.isupper() and part in pieces:
                return True
        elif '_' in part:
            if re.search(r'(^|_)' + part + r'(_|$)', name.lower()):
                return True
        elif part in lower:
            return True
    return False


def main():
    root = sys.argv[1]
    with open(os.path.join(root, 'docs/terms.md'), encoding='utf-8') as page:
        words, parts = denied(page.read())
    if not words or not parts:
        sys.exit('docs/terms.md denies nothing: has a table lost its column "not"?')
    wrong, tags = [], {}
    pattern = spelled(words)
    for path in files(root):
        try:
            with open(os.path.join(root, path), encoding='utf-8') as file:
                text = file.read()
        except UnicodeDecodeError:
            continue
        found = []
        for start, piece in prose(path, text):
            found += [(start + match.start(), match.group()) for match in pattern.finditer(piece)]
        found += [(start, name) for start, name in identifiers(path, text) if has_part(name, parts)]
        wrong += ['%s:%d: %s' % (path, text.count('\n', 0, at) + 1, ' '.join(word.split())) for at, word in sorted(found)]
        if path.endswith('.h') and not path.startswith('tests/'):
            for tag in re.findall(r'^(?:typedef )?(?:struct|enum|union) (\w+)\s*\{', text, re.M):
                tags.setdefault(tag, []).append(path)
    wrong += ['%s: a tag of several headers: %s' % (tag, ', '.join(paths))
              for tag, paths in sorted(tags.items()) if len(set(paths)) > 1]
    if wrong:
        print('words that docs/terms.md denies, or tags with two meanings:')
        print('\n'.join(wrong))
        sys.exit(1)


main()
