#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""strict.py FILE...: whether a pprof file is as the strictest reader, the server of Parca, wants it.

The first string is empty; mappings, functions and locations are numbered from 1 without gaps; each sample has a value
of each type; and whatever is named by a number is there.
"""
import gzip
import sys

STRINGS, TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION = 6, 1, 2, 3, 4, 5


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field: an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, "a field of another kind"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield key >> 3, value


def numbers(values):
    """Of a repeated field, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
        else:
            at = 0
            while at < len(value):
                number, at = varint(value, at)
                yield number


def of(number, message):
    return [value for key, value in fields(message) if key == number]


def one(number, message):
    return (of(number, message) or [0])[0]


def check(profile):
    whole = {n: [] for n in range(1, 7)}
    for key, value in fields(profile):
        whole.setdefault(key, []).append(value)
    strings, types = len(whole[STRINGS]), len(whole[TYPE])
    assert whole[STRINGS][0] == b"", "the first string is not empty"
    assert types > 0, "no types"
    for kind in MAPPING, LOCATION, FUNCTION:
        ids = [one(1, entity) for entity in whole[kind]]
        assert ids == list(range(1, len(ids) + 1)), f"numbers of field {kind} have gaps"
    for mapping in whole[MAPPING]:
        assert max(one(5, mapping), one(6, mapping)) < strings, "a string of a mapping"
    for function in whole[FUNCTION]:
        assert max(one(n, function) for n in (2, 3, 4)) < strings, "a string of a function"
    for location in whole[LOCATION]:
        assert one(2, location) <= len(whole[MAPPING]), "a location without its mapping"
        for line in of(4, location):
            assert 1 <= one(1, line) <= len(whole[FUNCTION]), "a line without its function"
    for sample in whole[SAMPLE]:
        assert len(list(numbers(of(2, sample)))) == types, "values are not those of the types"
        for location in numbers(of(1, sample)):
            assert 1 <= location <= len(whole[LOCATION]), "a sample without its location"
        for label in of(3, sample):
            assert 1 <= one(1, label) < strings and one(2, label) < strings, "a label without its words"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with gzip.open(name) as file:
            try:
                check(file.read())
            except AssertionError as why:
                sys.exit(f"{name}: {why}")
