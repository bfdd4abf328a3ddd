import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const SHARED_MEMORY = '/dev/shm';
/** The largest data of a whole run are far below this. */
const ROOM_BYTES = 2 * 1024 ** 3;

/**
 * A directory in memory for the temporary files of tests, where the machine has one with room (Linux); otherwise the
 * usual one. Each commit of SQLite waits for the disk, up to 50 ms on a busy one. What only a power cut can show is
 * the subject of `npm run test:powercut`; a killed process loses nothing in memory either.
 */
export function memoryDirectory(): string {
	try {
		const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
		const options = mounts.find((line) => line.split(' ')[1] === SHARED_MEMORY)?.split(' ')[3] ?? 'ro';
		const { bavail, bsize } = statfsSync(SHARED_MEMORY);
		// The unpacked browser is run from there.
		const isUsable = !/\b(?:noexec|ro)\b/.test(options) && bavail * bsize > ROOM_BYTES;
		return isUsable ? SHARED_MEMORY : tmpdir();
	} catch {
		return tmpdir();
	}
}
