#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tls_server.py --cert FILE [OPTION...]: a server on 127.0.0.1 that speaks TLS, well or badly.

Prints "port P", on which it listens, then "shaken VERSION NAME [CLIENT]" for each handshake that has ended well. NAME
is what the client asked for by SNI, or "-"; CLIENT is the name in its certificate.

  --cert FILE     its certificate, chain and key, PEM
  --ca FILE       wants a certificate by one of these from clients
  --version V     TLS of this version only: 1.1, 1.2 or 1.3
  --to ADDRESS    relays, decrypted, to the plain server at ADDRESS (127.0.0.1:PORT), and its answers back
  --ciphers LIST  takes only these
  --pause S       waits for so many seconds before its part of a handshake
  --then KIND     after a good handshake: garbage, or the end (close), or nothing (silent)
  --say KIND      no good handshake, whatever comes: nothing (silent), garbage, the end (close, reset), the first half
                  of its answer and the end (half) or nothing more (half-silent), its answer a byte in 200 ms (drip), or
                  endless messages that a client skips in a handshake (hellos)
"""
import argparse
import contextlib
import os
import select
import socket
import ssl
import struct
import sys
import threading
import time
import warnings

GARBAGE = b"\x00\x00\x00\x07garbage " * 100
VERSIONS = {"1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
KINDS = ("silent", "garbage", "close", "reset", "half", "half-silent", "drip", "hellos")
# Records of a handshake, full of HelloRequests: four zeros each.
HELLO_REQUESTS = (b"\x16\x03\x03" + struct.pack(">H", 16384) + bytes(16384)) * 16
MOST = 65536

warnings.simplefilter("ignore", DeprecationWarning)  # of TLS 1.1


def say(*words):
    """Prints a line in one piece: threads print at once, and a reader that waits for the first word reads the rest."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Server:
    """Serves each connection in a thread of its own."""

    def __init__(self, options):
        self._options = options
        self._names = {}  # that clients asked for
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(options.cert)
        self._context.set_ciphers(options.ciphers or "ALL:@SECLEVEL=0")  # or there is no TLS 1.1
        if options.version:
            self._context.minimum_version = ssl.TLSVersion.TLSv1  # it may never be above the maximum
            self._context.maximum_version = self._context.minimum_version = VERSIONS[options.version]
        if options.ca:
            self._context.verify_mode = ssl.CERT_REQUIRED
            self._context.load_verify_locations(options.ca)
        self._context.sni_callback = lambda of, name, _: self._names.update({of: name})

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            if self._options.say:
                self._misbehave(connection)
                return
            with self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as secured:
                time.sleep(self._options.pause)
                try:
                    secured.do_handshake()
                except ssl.SSLError:
                    leave(secured)
                    return
                say("shaken", secured.version(), self._names.pop(secured, None) or "-", *name_of(secured.getpeercert()))
                self._behind_handshake(secured)

    def _behind_handshake(self, secured):
        if self._options.to:
            host, _, port = self._options.to.rpartition(":")
            with socket.create_connection((host, int(port))) as there:
                relay(secured, there)
        elif self._options.then == "garbage":
            secured.recv(MOST)
            secured.sendall(GARBAGE)
            while secured.recv(MOST):
                pass
        elif self._options.then == "silent":
            while secured.recv(MOST):
                pass

    def _misbehave(self, connection):
        kind = self._options.say
        if kind == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if kind in ("close", "reset"):
            return
        hello = connection.recv(MOST)
        if kind == "garbage":
            connection.sendall(GARBAGE)
        elif kind.startswith("half"):
            answer = self._first_flight(hello)
            connection.sendall(answer[:len(answer) // 2])
        elif kind == "drip":
            for byte in self._first_flight(hello):
                connection.sendall(bytes((byte,)))
                time.sleep(0.2)
        elif kind == "hellos":
            say("greeting")
            while True:
                connection.sendall(HELLO_REQUESTS)
        if kind.endswith("silent"):
            while connection.recv(MOST):
                pass

    def _first_flight(self, hello):
        """Returns the server's answer to the client's first message."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        incoming.write(hello)
        with contextlib.suppress(ssl.SSLError):
            self._context.wrap_bio(incoming, outgoing, server_side=True).do_handshake()
        return outgoing.read()


def name_of(certificate):
    return [value for entry in (certificate or {}).get("subject", ()) for _, value in entry]


def leave(connection):
    """Closes so that an alert arrives: data left unread here would cause a reset."""
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(MOST):
        pass


def relay(secured, there):
    while True:
        if not secured.pending():
            readable = select.select([secured, there], [], [])[0]
            if there in readable:
                data = there.recv(MOST)
                if not data:
                    secured.unwrap()
                    return
                secured.sendall(data)
            if secured not in readable:
                continue
        secured.setblocking(False)  # what is readable may be less than a record, or none of the client's data
        with contextlib.suppress(ssl.SSLWantReadError):
            data = secured.recv(MOST)
            if not data:
                return
            there.sendall(data)
        secured.setblocking(True)


def options_of_command_line():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--ca")
    parser.add_argument("--version", choices=VERSIONS)
    parser.add_argument("--ciphers")
    parser.add_argument("--to")
    parser.add_argument("--pause", type=float, default=0)
    parser.add_argument("--then", choices=("garbage", "close", "silent"))
    parser.add_argument("--say", choices=KINDS)
    return parser.parse_args()


def main():
    server = Server(options_of_command_line())
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        say("port", listener.getsockname()[1])
        while True:
            threading.Thread(target=server.serve, args=[listener.accept()[0]], daemon=True).start()


try:
    main()
except (KeyboardInterrupt, BrokenPipeError):
    os._exit(0)
