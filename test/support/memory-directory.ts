import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
const PREFIX = 'handraise-tests-';
/** The largest data of a whole run are far below this. */
const ROOM_BYTES = 2 * 1024 ** 3;

/**
 * A directory in memory for the temporary files of this test run, where the machine has room for one (Linux); otherwise
 * the usual one. Each commit of SQLite waits for the disk, up to 50 ms on a busy one. What only a power cut can show is
 * the subject of `npm run faults -- powercut`; a killed process loses nothing in memory either. It is removed with the process.
 */
export function memoryDirectory(): string {
	if (!hasRoom()) return tmpdir();
	const directory = join(SHARED_MEMORY, `${PREFIX}${process.pid}`);
	for (const name of readdirSync(SHARED_MEMORY)) {
		if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length)))) remove(join(SHARED_MEMORY, name));
	}
	try {
		mkdirSync(directory, { recursive: true });
		// PostgreSQL runs as a user of its own when root starts it.
		chmodSync(directory, 0o1777);
	} catch {
		return tmpdir();
	}
	process.once('exit', () => remove(directory));
	return directory;
}

function hasRoom(): boolean {
	try {
		const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
		const options = mounts.findLast((line) => line.split(' ')[1] === SHARED_MEMORY)?.split(' ')[3] ?? 'ro';
		const { bavail, bsize } = statfsSync(SHARED_MEMORY);
		// The unpacked browser is run from there.
		return !/\b(?:noexec|ro)\b/.test(options) && bavail * bsize > ROOM_BYTES;
	} catch {
		return false;
	}
}

function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}

/** What belongs to another user stays. */
function remove(path: string): void {
	try {
		rmSync(path, { recursive: true, force: true });
	} catch {
		// Its owner's next run removes it.
	}
}
