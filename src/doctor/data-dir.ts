import { accessSync, constants, existsSync, readFileSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileSystemOf, kindOfFileSystem } from './file-system.ts';
import { type Finding, findingsOf } from './finding.ts';

/** Bytes. The database of a busy team stays below this; a full disk refuses answers. */
const LITTLE_SPACE = 200 * 1_048_576;

const OURS = ['handraise.db', 'handraise.lock', 'encryption.key'];

/** Whether DATA_DIR can hold SQLite's file and the key. Makes nothing: what is not there yet is judged by its parent. */
export function checkDataDir(dataDir: string): Finding[] {
	const { ok, warning, failure } = findingsOf('DATA_DIR');
	const directory = resolve(dataDir);
	const existing = nearestExisting(directory);
	if (!statSync(existing).isDirectory()) return [failure(`${existing} is a file: set DATA_DIR to a directory.`)];
	if (!mayWrite(existing, constants.W_OK | constants.X_OK)) {
		return [
			failure(`${existing} cannot be written by this user: change its owner (chown), or set DATA_DIR to another one.`),
		];
	}
	const closed = OURS.map((name) => join(directory, name)).filter(
		(path) => existsSync(path) && !mayWrite(path, constants.R_OK | constants.W_OK),
	);
	if (closed.length > 0) {
		return [
			failure(
				`${closed.join(', ')} cannot be read and written by this user: change the owner (chown). Was Handraise started as another user?`,
			),
		];
	}

	const found: Finding[] = [];
	const type = fileSystemType(existing);
	const kind = type === null ? 'unknown' : kindOfFileSystem(type);
	if (kind === 'network') {
		found.push(
			failure(
				`${directory} is on a network file system (${type}), whose locks and syncs SQLite cannot rely on: use a local disk, or DATABASE_URL.`,
			),
		);
	} else if (kind === 'memory') {
		found.push(
			warning(`${directory} is in memory (${type}): all answers are lost at a restart of the machine. Use a disk.`),
		);
	} else if (kind === 'container') {
		found.push(warning(`${directory} is in the container itself (${type}) and goes with it: mount a volume there.`));
	}
	const { bavail, bsize } = statfsSync(existing);
	if (bavail * bsize < LITTLE_SPACE) {
		found.push(
			warning(
				`only ${Math.floor((bavail * bsize) / 1_048_576)} MB are free on the disk of ${directory}: make room; a full disk takes no answers.`,
			),
		);
	}
	if (found.length > 0) return found;
	return [
		ok(directory === existing ? `${directory} can be written.` : `${directory} will be made at the first start.`),
	];
}

function nearestExisting(path: string): string {
	return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function mayWrite(path: string, mode: number): boolean {
	try {
		accessSync(path, mode);
		return true;
	} catch {
		return false;
	}
}

function fileSystemType(path: string): string | null {
	try {
		return fileSystemOf(realpathSync(path), readFileSync('/proc/mounts', 'utf8'));
	} catch {
		// Not Linux: it cannot be told.
		return null;
	}
}
