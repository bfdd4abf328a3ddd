/** The type of the file system that holds an absolute path, by the text of /proc/mounts (see proc_pid_mounts(5)). */
export function fileSystemOf(path: string, mounts: string): string | null {
	let longest = '';
	let found: string | null = null;
	for (const line of mounts.split('\n')) {
		const [, point, type] = line.split(' ');
		if (point === undefined || type === undefined) continue;
		const place = withoutEscapes(point);
		const holds = place === '/' || path === place || path.startsWith(`${place}/`);
		// Of two mounts on one point the later one is seen.
		if (holds && place.length >= longest.length) {
			longest = place;
			found = type;
		}
	}
	return found;
}

/** Spaces, tabs, line ends and backslashes stand there as octal escapes. */
function withoutEscapes(point: string): string {
	return point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

const NETWORK =
	/^(nfs\d?|cifs|smb\w*|9p|afs|ceph|lustre|gpfs|glusterfs|ocfs2|gfs2|beegfs|virtiofs|davfs|fuse\.(sshfs|glusterfs|ceph|s3fs|gcsfuse|rclone|blobfuse\w*|davfs\w*|juicefs|mountpoint-s3|seaweedfs))$/;

/** Where files on such a file system are. `unknown` covers local disks, whatever their type. */
export function kindOfFileSystem(type: string): 'network' | 'memory' | 'container' | 'unknown' {
	if (NETWORK.test(type)) return 'network';
	if (type === 'tmpfs' || type === 'ramfs') return 'memory';
	return type === 'overlay' || type === 'aufs' ? 'container' : 'unknown';
}
