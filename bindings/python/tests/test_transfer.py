# SPDX-License-Identifier: Apache-2.0
"""The transfer engine from Python, on the host back end, whose device addresses are those of its memory."""

import ctypes
import struct
import unittest
from array import array

import kwhy


class Transfers(unittest.TestCase):
    def setUp(self):
        self.transfer = kwhy.Transfer("host")
        self.addCleanup(self.transfer.close)

    def test_pieces_arrive_and_come_back(self):
        device = self.transfer.allocate(1000 * 37)
        pieces = [bytes([i % 251]) * 37 for i in range(1000)]
        for i, piece in enumerate(pieces):
            self.transfer.put(device + 37 * i, piece)
        ticket = self.transfer.flush()
        back = [bytearray(37) for _ in pieces]
        for i, target in enumerate(back):
            self.transfer.get(target, device + 37 * i)
        self.transfer.wait()
        self.transfer.wait(ticket)
        self.assertEqual(back, pieces)
        counts = self.transfer.counts()
        self.assertEqual((counts["pieces"], counts["bytes"]), (2000, 2 * 37000))
        self.assertLess(counts["driver_calls"], 100)
        self.transfer.free(device)

    def test_a_target_stays_until_it_is_filled(self):
        device = self.transfer.allocate(8)
        self.transfer.put(device, b"12345678")
        target = bytearray(8)
        self.transfer.get(target, device)
        with self.assertRaises(BufferError):
            target.append(0)  # its memory is lent
        self.transfer.wait()
        target.append(0)
        self.assertEqual(target, b"12345678\0")

    def test_numbers_are_converted(self):
        device = self.transfer.allocate(8)
        self.transfer.put_numbers(device, array("f", [1.0, -2.5, 0.0, 3.0]), "bf16")
        back = bytearray(8)
        self.transfer.get(back, device)
        self.transfer.wait()
        self.assertEqual([struct.unpack("<f", b"\0\0" + back[i : i + 2])[0] for i in range(0, 8, 2)], [1.0, -2.5, 0.0, 3.0])
        with self.assertRaisesRegex(ValueError, "32-bit"):
            self.transfer.put_numbers(device, b"abc")
        with self.assertRaisesRegex(ValueError, "f32, f16, bf16, i8"):
            self.transfer.put_numbers(device, array("f", [1]), "f8")

    def test_a_loader_gives_all_data_in_order(self):
        data = bytes(range(256)) * 4096
        got = bytearray()
        for chunk in self.transfer.chunks(data, chunk_bytes=64 * 1024):
            self.assertEqual(chunk.offset, len(got))
            got += ctypes.string_at(chunk.arrived().device, chunk.bytes)
        self.assertEqual(got, data)

    def test_a_reader_fills_what_it_is_given(self):
        got = bytearray()

        def read(into, offset):
            into[:] = bytes((offset // 65536 + i) % 256 for i in range(256)) * (len(into) // 256)

        with self.transfer.chunks(read=read, bytes=512 * 1024, chunk_bytes=65536) as loader:
            for chunk in loader:
                got += ctypes.string_at(chunk.arrived().device, chunk.bytes)
        self.assertEqual(len(got), 512 * 1024)
        self.assertEqual([got[65536 * i] for i in range(8)], list(range(8)))

    def test_the_exception_of_a_reader_is_raised_and_the_engine_goes_on(self):
        def read(into, offset):
            if offset >= 131072:
                raise OSError("the disk is gone")

        with self.assertRaisesRegex(OSError, "the disk is gone"):
            for _ in self.transfer.chunks(read=read, bytes=1 << 20, chunk_bytes=65536):
                pass
        self.test_numbers_are_converted()

    def test_a_loader_that_is_left_is_closed_with_the_engine(self):
        loader = self.transfer.chunks(bytes(1 << 20), chunk_bytes=65536)
        next(loader)
        self.transfer.close()
        with self.assertRaisesRegex(kwhy.KwhyError, "closed"):
            next(loader)
        with self.assertRaisesRegex(kwhy.KwhyError, "closed"):
            self.transfer.put(0, b"x")

    def test_misuse_is_said_in_a_sentence(self):
        with self.assertRaisesRegex(ValueError, "cuda, hip, host"):
            kwhy.Transfer("metal")
        with self.assertRaisesRegex(TypeError, "no option 'size'"):
            kwhy.Transfer("host", size=3)
        with self.assertRaisesRegex(kwhy.KwhyError, "device"):
            kwhy.Transfer("host", device="99")
        with self.assertRaises(TypeError):
            self.transfer.put(0, 17)
        with self.assertRaises(BufferError):
            self.transfer.get(b"read-only", 0)
        with self.assertRaisesRegex(TypeError, "takes data, or read="):
            self.transfer.chunks()


if __name__ == "__main__":
    unittest.main()
