# Reads the preload's journal and builds what a power cut at a chosen moment would have left on the disk.
#
# The model: a file holds the bytes written before its last sync began; a folder holds the names that were there when its own last
# sync began. Of what came later a cut may keep a part, as the seed says: of a file's writes a beginning, the last of them torn
# at a sector or filled with zeros or rubbish; of a folder's changes of names a beginning. A write that a failed sync was to
# cover is lost for good, however many syncs succeed later (Linux marks such pages clean).
import os
import random
import struct

FRAME = struct.Struct("<IIQQQQ")
CREATE, MKDIR, WRITE, TRUNCATE, SYNC, SYNC_FAILED, RENAME, UNLINK, LINK, FOLDER_SYNC, NOTE = range(1, 12)
ROOT = 0
SECTOR = 512


def frames(path):
    """(end offset, kind, number, inode, folder, offset, bytes that follow); stops at a frame that is cut short."""
    with open(path, "rb") as journal:
        data = journal.read()
    at = 0
    while at + FRAME.size <= len(data):
        size, kind, number, inode, folder, offset = FRAME.unpack_from(data, at)
        if size < FRAME.size or at + size > len(data):
            return
        yield at + size, kind, number, inode, folder, offset, data[at + FRAME.size : at + size]
        at += size


class File:
    def __init__(self):
        self.durable = bytearray()
        self.pending = []  # (number, is_write, offset, bytes)
        self.doomed = False

    def apply(self, target, operation):
        _, is_write, offset, data = operation
        if not is_write:
            if offset < len(target):
                del target[offset:]
            else:
                target.extend(bytes(offset - len(target)))
            return
        if len(target) < offset:
            target.extend(bytes(offset - len(target)))
        target[offset : offset + len(data)] = data

    def sync(self, covered):
        later = []
        for operation in self.pending:
            if operation[0] <= covered:
                self.apply(self.durable, operation)
            else:
                later.append(operation)
        self.pending = later

    def sync_failed(self, covered):
        self.pending = [operation for operation in self.pending if operation[0] > covered]

    def after_cut(self, chance):
        """What of the file is there, as chance has it; all chances include 'only what was synced'."""
        data = bytearray(self.durable)
        if chance is None or not self.pending or chance.random() < 0.4:
            return data
        kept = chance.randint(0, len(self.pending))
        for operation in self.pending[:kept]:
            self.apply(data, operation)
        if kept < len(self.pending) and self.pending[kept][1]:
            number, _, offset, written = self.pending[kept]
            torn = chance.randint(0, len(written))
            if chance.random() < 0.7:
                torn = max(0, (offset + torn) // SECTOR * SECTOR - offset)
            rest = len(written) - torn
            filling = chance.random()
            tail = b"" if filling < 0.6 else bytes(rest) if filling < 0.85 else chance.randbytes(rest)
            self.apply(data, (number, True, offset, written[:torn] + tail))
        return data


class Folder:
    def __init__(self):
        self.durable = {}
        self.pending = []  # (number, change) with change(names)

    def sync(self, covered):
        for number, change in self.pending:
            if number <= covered:
                change(self.durable)
        self.pending = [p for p in self.pending if p[0] > covered]

    def after_cut(self, chance):
        names = dict(self.durable)
        if chance is not None and chance.random() < 0.6:
            for _, change in self.pending[: chance.randint(0, len(self.pending))]:
                change(names)
        return names


class Disk:
    """What is durable and what is not, as a journal goes by. `base`: the folder as it was when the journal began, or missing."""

    def __init__(self, base):
        self.nodes = {}   # the objects: inode numbers are used again, objects are not
        self.inodes = {}  # inode number: object
        self.now = {}     # folder object: names as the process sees them
        self.root = None
        self.notes = []
        if os.path.isdir(base):
            self.root = self.take_folder(base)

    def new_folder(self, inode):
        folder = Folder()
        self.inodes[inode] = folder
        self.now[folder] = {}
        return folder

    def take_folder(self, path):
        folder = self.new_folder(os.stat(path).st_ino)
        for name in os.listdir(path):
            inner = os.path.join(path, name)
            if os.path.isdir(inner):
                node = self.take_folder(inner)
            else:
                node = File()
                with open(inner, "rb") as file:
                    node.durable = bytearray(file.read())
                self.inodes[os.stat(inner).st_ino] = node
            folder.durable[name] = self.now[folder][name] = node
        return folder

    def change(self, folder, number, change):
        change(self.now[folder])
        folder.pending.append((number, change))

    def take(self, kind, number, inode, folder, offset, data):
        if kind == NOTE:
            self.notes.append(data.decode())
        elif kind == MKDIR and folder == 0:
            self.root = self.new_folder(inode)
        elif kind in (CREATE, MKDIR, LINK):
            if kind == LINK:
                node = self.inodes[inode]
            else:
                node = self.new_folder(inode) if kind == MKDIR else File()
                self.inodes[inode] = node
            self.change(self.inodes[folder], number, lambda names: names.__setitem__(data.decode(), node))
        elif kind == UNLINK:
            self.change(self.inodes[folder], number, lambda names: names.pop(data.decode(), None))
        elif kind == RENAME:
            self.rename(number, self.inodes[folder], self.inodes[inode], *data.decode().split("\0"))
        elif kind == WRITE:
            self.inodes[inode].pending.append((number, True, offset, data))
        elif kind == TRUNCATE:
            self.inodes[inode].pending.append((number, False, offset, b""))
        elif kind in (SYNC, FOLDER_SYNC):
            self.inodes[inode].sync(offset)
        elif kind == SYNC_FAILED and isinstance(self.inodes[inode], File):
            self.inodes[inode].sync_failed(offset)

    def rename(self, number, old_folder, new_folder, old_name, new_name):
        node = self.now[old_folder].get(old_name)
        if node is None:
            return  # a file of the C library's own, never recorded
        assert old_folder is new_folder, "renaming across folders is not modelled"

        def change(names):
            names.pop(old_name, None)
            names[new_name] = node

        self.change(old_folder, number, change)

    def build(self, target, chance):
        """Writes what is left into the new folder `target`; chance None: only what was synced."""
        if self.root is not None:
            self.build_folder(self.root, target, chance)

    def build_folder(self, folder, target, chance):
        os.mkdir(target, 0o700)
        for name, node in sorted(folder.after_cut(chance).items()):
            inner = os.path.join(target, name)
            if isinstance(node, Folder):
                self.build_folder(node, inner, chance)
            else:
                with open(inner, "wb") as file:
                    file.write(node.after_cut(chance))


def note_offsets(path):
    return [end for end, kind, *_ in frames(path) if kind == NOTE]


def chance_of(seed, offset):
    """Every third cut keeps nothing that was not synced: the hardest reading of what a disk owes."""
    chance = random.Random(f"{seed} {offset}")
    return None if chance.random() < 0.34 else chance
