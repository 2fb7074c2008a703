"""Requests that cannot be answered are refused with OSRM's code, and the service goes on."""

from __future__ import annotations

import socket
import time

import httpx
import pytest
from running_service import LIMITS, Running

TWO = "-8.0,41.0;-8.001,41.001"

REFUSED = {
    "no coordinates": ("/table/v1/driving/", "InvalidUrl"),
    "words": ("/table/v1/driving/here;there", "InvalidUrl"),
    "nan": ("/table/v1/driving/nan,41;-8,41", "InvalidUrl"),
    "infinite": ("/table/v1/driving/inf,41;-8,41", "InvalidUrl"),
    "half a pair": ("/table/v1/driving/-8.0;-8,41", "InvalidUrl"),
    "empty place": (f"/table/v1/driving/{TWO};", "InvalidUrl"),
    "broken polyline": ("/table/v1/driving/polyline(obdzFn_)", "InvalidUrl"),
    "not in degrees": ("/table/v1/driving/-8.0,41.0;200,91", "InvalidValue"),
    "one place": ("/table/v1/driving/-8.0,41.0", "InvalidOptions"),
    "one place, route": ("/route/v1/driving/-8.0,41.0", "InvalidOptions"),
    "two places, nearest": (f"/nearest/v1/driving/{TWO}", "InvalidOptions"),
    "far away": ("/table/v1/driving/-8.0,41.0;-9.5,41.0", "NoSegment"),
    "far by its radius": ("/table/v1/driving/-8.0,41.0;-8.0105,41.0105?radiuses=;1", "NoSegment"),
    "unknown option": (f"/table/v1/driving/{TWO}?colour=red", "InvalidQuery"),
    "option of another service": (f"/table/v1/driving/{TWO}?geometries=geojson", "InvalidQuery"),
    "twice": (f"/table/v1/driving/{TWO}?sources=0&sources=1", "InvalidQuery"),
    "no value": (f"/table/v1/driving/{TWO}?sources", "InvalidQuery"),
    "words for indices": (f"/table/v1/driving/{TWO}?sources=first", "InvalidQuery"),
    "negative index": (f"/table/v1/driving/{TWO}?sources=-1", "InvalidQuery"),
    "index too large": (f"/table/v1/driving/{TWO}?sources=0;2", "InvalidOptions"),
    "wrong annotation": (f"/table/v1/driving/{TWO}?annotations=colour", "InvalidQuery"),
    "no annotation": (f"/table/v1/driving/{TWO}?annotations=false", "InvalidOptions"),
    "too few radiuses": (f"/table/v1/driving/{TWO}?radiuses=10", "InvalidOptions"),
    "negative radius": (f"/table/v1/driving/{TWO}?radiuses=-1;5", "InvalidOptions"),
    "negative speed": (f"/table/v1/driving/{TWO}?fallback_speed=-3", "InvalidOptions"),
    "no speed": (f"/table/v1/driving/{TWO}?fallback_coordinate=input", "InvalidOptions"),
    "factor 0": (f"/table/v1/driving/{TWO}?scale_factor=0", "InvalidOptions"),
    "factor nan": (f"/table/v1/driving/{TWO}?scale_factor=nan", "InvalidQuery"),
    "factor for distances": (f"/table/v1/driving/{TWO}?scale_factor=2&annotations=distance", "InvalidOptions"),
    "bearings": (f"/table/v1/driving/{TWO}?bearings=10,20;", "NotImplemented"),
    "hints": (f"/table/v1/driving/{TWO}?hints=abc;", "NotImplemented"),
    "hints wanted": (f"/table/v1/driving/{TWO}?generate_hints=true", "NotImplemented"),
    "approaches": (f"/table/v1/driving/{TWO}?approaches=curb;curb", "NotImplemented"),
    "exclude": (f"/table/v1/driving/{TWO}?exclude=motorway", "NotImplemented"),
    "flatbuffers": (f"/table/v1/driving/{TWO}.flatbuffers", "NotImplemented"),
    "steps": (f"/route/v1/driving/{TWO}?steps=true", "NotImplemented"),
    "alternatives": (f"/route/v1/driving/{TWO}?alternatives=2", "NotImplemented"),
    "straight on": (f"/route/v1/driving/{TWO}?continue_straight=true", "NotImplemented"),
    "waypoints": (f"/route/v1/driving/{TWO}?waypoints=0;1", "NotImplemented"),
    "wrong geometry": (f"/route/v1/driving/{TWO}?geometries=wkt", "InvalidQuery"),
    "wrong overview": (f"/route/v1/driving/{TWO}?overview=true", "InvalidQuery"),
    "number 0": ("/nearest/v1/driving/-8.0,41.0?number=0", "InvalidOptions"),
    "number with a point": ("/nearest/v1/driving/-8.0,41.0?number=1.5", "InvalidQuery"),
    "huge number": ("/nearest/v1/driving/-8.0,41.0?number=101", "TooBig"),
    "number of many digits": (f"/nearest/v1/driving/-8.0,41.0?number={'9' * 4000}", "InvalidQuery"),
    "too many places": (f"/table/v1/driving/{';'.join(['-8,41'] * 201)}", "TooBig"),
    "too many pairs": (f"/table/v1/driving/{';'.join(['-8,41'] * 80)}", "TooBig"),
    "another service": (f"/trip/v1/driving/{TWO}", "InvalidService"),
    "another version": (f"/table/v2/driving/{TWO}", "InvalidVersion"),
    "no coordinates at all": ("/table/v1/driving", "InvalidUrl"),
    "wrong encoding": ("/table/v1/driving/%ff%fe", "InvalidUrl"),
    "wrong encoding of a value": (f"/table/v1/driving/{TWO}?sources=%ff", "InvalidQuery"),
    "null bytes": ("/table/v1/driving/%00,41;-8,41", "InvalidUrl"),
    "other digits": ("/table/v1/driving/٣,41;-8,41", "InvalidUrl"),
    "a path of a file": ("/page/..%2f..%2fapp.py", "InvalidService"),
    "no such file": ("/page/app.py", "InvalidUrl"),
    "no engine": ("/field?lon=-8&lat=41&engine=guessed", "InvalidValue"),
    "field of nowhere": ("/field?lon=-8", "InvalidQuery"),
    "field of the sea": ("/field?lon=-12&lat=41", "NoSegment"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_is_refused_with_its_code(town: Running, name: str) -> None:
    path, code = REFUSED[name]
    got = town.get(path)
    assert got.json()["code"] == code, got.text
    assert got.status_code in ((400, 404, 405) if code == "InvalidUrl" else (400,))
    assert "message" in got.json()


BODIES = {
    "nothing": (b"", "InvalidQuery"),
    "no json": (b"{coordinates}", "InvalidQuery"),
    "a list": (b"[]", "InvalidQuery"),
    "nan": (b'{"coordinates": [[NaN, 41], [-8, 41]]}', "InvalidQuery"),
    "huge number": (b'{"coordinates": [[1e999, 41], [-8, 41]]}', None),
    "many digits": (b'{"coordinates": [[%s, 41], [-8, 41]]}' % (b"9" * 400), None),
    "deep": (b"[" * 20_000 + b"]" * 20_000, "InvalidQuery"),
    "wrong encoding": (b'{"coordinates": "\xff\xfe"}', "InvalidQuery"),
    "true": (b'{"coordinates": [[true, 41], [-8, 41]]}', "InvalidQuery"),
    "three numbers": (b'{"coordinates": [[-8, 41, 5], [-8, 41]]}', "InvalidQuery"),
    "unknown option": (b'{"coordinates": [[-8, 41], [-8, 41]], "colour": 1}', "InvalidQuery"),
    "wrong sources": (b'{"coordinates": [[-8, 41], [-8, 41]], "sources": [0.5]}', "InvalidQuery"),
    "bearings": (b'{"coordinates": [[-8, 41], [-8, 41]], "bearings": [[1, 2], null]}', "NotImplemented"),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_is_refused_with_its_code(town: Running, name: str) -> None:
    body, code = BODIES[name]
    got = httpx.post(f"{town.url}/table/v1/driving", content=body, timeout=30)
    assert got.status_code == 400
    assert code is None or got.json()["code"] == code, got.text


OWN = {
    "no sources": ("/distances", {}, "InvalidValue"),
    "empty sources": ("/distances", {"sources": []}, "InvalidValue"),
    "both kinds": ("/distances", {"sources": ["1000", [-8.0, 41.0]]}, "InvalidValue"),
    "unknown id": ("/distances", {"sources": ["nowhere"]}, "InvalidValue"),
    "unknown field": ("/distances", {"sources": ["1000"], "colour": 1}, "InvalidValue"),
    "lengths of a model": (
        "/distances",
        {"sources": ["1000"], "engine": "learned", "annotations": ["distance"]},
        "NotImplemented",
    ),
    "number 0": ("/nearest", {"places": ["1000"], "candidates": ["1001"], "number": 0}, "InvalidValue"),
    "no matrix": ("/audit", {}, "InvalidOptions"),
    "both": ("/audit", {"matrix": [[0]], "places": ["1000"]}, "InvalidOptions"),
    "not square": ("/audit", {"matrix": [[0, 1]]}, "InvalidValue"),
    "negative": ("/audit", {"matrix": [[0, -1], [1, 0]]}, "InvalidValue"),
    "a diagonal": ("/audit", {"matrix": [[1, 1], [1, 0]]}, "InvalidValue"),
    "too large": ("/audit", {"matrix": [[0]] * 501}, "TooBig"),
    "an engine for a matrix": ("/audit", {"matrix": [[0]], "engine": "exact"}, "InvalidOptions"),
}


@pytest.mark.parametrize("name", OWN)
def test_a_request_to_an_own_endpoint_is_refused(town: Running, name: str) -> None:
    path, body, code = OWN[name]
    got = town.post(path, body)
    assert (got.status_code, got.json()["code"]) == (400, code), got.text


def raw(town: Running, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send bytes, and return all that comes back until the end of the connection."""
    with socket.create_connection(("127.0.0.1", town.port), timeout=15) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        found = b""
        while piece := connection.recv(65536):
            found += piece
    return found


def test_long_headers_and_urls_are_refused(town: Running) -> None:
    long = b"x" * LIMITS.header_bytes
    assert raw(town, b"GET /" + long + b" HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 414")
    assert raw(town, b"GET / HTTP/1.1\r\nhost: x\r\nlong: " + long + b"\r\n\r\n").startswith(b"HTTP/1.1 431")


def test_what_is_no_http_is_refused(town: Running) -> None:
    assert raw(town, b"\x16\x03\x01 hello\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert raw(town, b"GET /\xff\xfe HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 4")
    assert raw(town, b"CONNECT example.org:80 HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 4")


def test_a_large_body_is_refused_before_it_is_read(town: Running) -> None:
    head = b"POST /distances HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 999999999\r\n\r\n"
    assert raw(town, head).startswith(b"HTTP/1.1 413")
    body = b"1" * (LIMITS.body_bytes + 1)
    head = b"POST /distances HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    assert raw(town, head, b"%x\r\n" % len(body) + body + b"\r\n").startswith(b"HTTP/1.1 413")


def test_slow_clients_are_let_go(town: Running) -> None:
    assert raw(town, b"GET /hea").startswith(b"HTTP/1.1 408")
    head = b"POST /distances HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 10\r\n\r\n{"
    assert raw(town, head).startswith(b"HTTP/1.1 408")


def test_the_service_is_alive_after_all_that(town: Running) -> None:
    assert town.get("/health").json() == {"code": "Ok"}
    text = town.get("/metrics").text
    assert not [line for line in text.splitlines() if 'status="5xx"' in line and not line.endswith(" 0")]
