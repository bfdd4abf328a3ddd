import { createHash } from 'node:crypto';
import {
	chmodSync,
	cpSync,
	existsSync,
	lstatSync,
	mkdtempSync,
	readdirSync,
	realpathSync,
	renameSync,
	rmSync,
	statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/*
 * PostgreSQL refuses to run as root, so under root it runs as a user of its own. When that user cannot enter the
 * directory of the binaries (a clone under /root), they run from a copy.
 */

/** How many damaged copies (a cleaner of old files was there) or foreign ones are skipped. */
const MOST_PLACES = 10;

/**
 * A temporary directory that every user may enter. The one from the environment may be its owner's alone.
 * @throws Error when there is none
 */
export function openTemporaryDirectory(): string {
	const candidates = [tmpdir(), '/tmp', '/var/tmp'];
	const found = candidates.find((directory) => existsSync(directory) && isOpenToAll(directory));
	if (found === undefined)
		throw new Error(`No temporary directory is open to all users. Open one of these: ${candidates.join(', ')}`);
	return found;
}

/**
 * The directory of this package of binaries, or a copy of it when other users may not enter it. The copy (60 MB) stays
 * in `temporary` for the next run and is identified by the names and sizes of its files.
 * @throws Error when there is no place for a copy
 */
export function reachablePackage(directory: string, temporary: string): string {
	if (isOpenToAll(join(directory, 'native', 'lib'))) return directory;
	const listing = listingOf(directory);
	const key = createHash('sha256').update(listing).digest('hex').slice(0, 16);
	const base = join(temporary, `handraise-postgres-binaries-${key}`);
	for (let number = 1; number <= MOST_PLACES; number++) {
		const place = `${base}-${number}`;
		if (!isThere(place)) copyTo(place, directory);
		if (isOwn(place) && listingOf(place) === listing) return place;
	}
	throw new Error(`Copies of the PostgreSQL binaries in ${base}-* are damaged or foreign. Remove them.`);
}

/** True when users other than the owner may enter the directory and all those above it. */
function isOpenToAll(directory: string): boolean {
	for (let path = realpathSync(directory); ; path = dirname(path)) {
		if ((statSync(path).mode & 0o001) === 0) return false;
		if (path === dirname(path)) return true;
	}
}

/** Writes a whole copy or none: several runs may do so at once, and one may be killed half-way. */
function copyTo(place: string, directory: string): void {
	const draft = mkdtempSync(`${place}.`);
	try {
		cpSync(directory, draft, { recursive: true, verbatimSymlinks: true });
		letAllRead(draft);
		renameSync(draft, place);
	} catch (error) {
		rmSync(draft, { recursive: true, force: true });
		// Another run was faster.
		if (!isThere(place)) throw error;
	}
}

function letAllRead(directory: string): void {
	chmodSync(directory, 0o755);
	for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
		const path = join(entry.parentPath, entry.name);
		if (entry.isDirectory()) chmodSync(path, 0o755);
		else if (entry.isFile()) chmodSync(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
	}
}

function isThere(path: string): boolean {
	return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The copy's name can be guessed, so a copy of another user is not run. */
function isOwn(path: string): boolean {
	const stats = lstatSync(path);
	return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}

/** The files with their sizes, one per line. */
function listingOf(directory: string): string {
	return readdirSync(directory, { recursive: true, withFileTypes: true })
		.filter((entry) => !entry.isDirectory())
		.map((entry) => join(entry.parentPath, entry.name))
		.map((path) => `${path.slice(directory.length)} ${lstatSync(path).size}`)
		.sort()
		.join('\n');
}
