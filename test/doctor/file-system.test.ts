import { expect, it } from 'vitest';
import { fileSystemOf, kindOfFileSystem } from '../../src/doctor/file-system.ts';

const MOUNTS = `overlay / overlay rw,relatime 0 0
proc /proc proc rw 0 0
/dev/sda1 /srv ext4 rw 0 0
server:/export /srv/shared nfs4 rw,vers=4.2 0 0
tmpfs /srv/fast tmpfs rw 0 0
//nas/team /mnt/Team\\040Files cifs rw 0 0
/dev/sdb1 /srv/fast xfs rw 0 0
`;

it.each([
	['/var/lib/handraise', 'overlay'],
	['/srv', 'ext4'],
	['/srv/data', 'ext4'],
	['/srv/shared/data', 'nfs4'],
	['/srv/sharedwith', 'ext4'],
	['/mnt/Team Files/data', 'cifs'],
	['/srv/fast/data', 'xfs'],
])('finds the file system that holds %s', (path, type) => {
	expect(fileSystemOf(path, MOUNTS)).toBe(type);
});

it('finds none in a text that holds no mounts', () => {
	expect(fileSystemOf('/srv', '')).toBeNull();
});

it.each([
	['nfs4', 'network'],
	['cifs', 'network'],
	['9p', 'network'],
	['fuse.sshfs', 'network'],
	['tmpfs', 'memory'],
	['overlay', 'container'],
	['ext4', 'unknown'],
	['fuseblk', 'unknown'],
])('knows what a file system of the type %s means', (type, kind) => {
	expect(kindOfFileSystem(type)).toBe(kind);
});
