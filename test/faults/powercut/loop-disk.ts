import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A separate file system in an image file. */
export interface LoopDisk extends AsyncDisposable {
	/** The directory where it is mounted. */
	readonly path: string;
	/**
	 * What a power cut at this moment would leave, mounted elsewhere (its journal is replayed). The image holds what was
	 * passed to the device, not what the file system still keeps in memory.
	 */
	cut(): Promise<LoopDisk>;
}

const SIZE = '64M';

/** Why this machine cannot do it, or null when it can. */
export async function whyNoLoopDisks(): Promise<string | null> {
	if (process.platform !== 'linux') return 'it needs Linux with loop devices';
	if (process.getuid?.() !== 0) return 'mounting an image needs root';
	try {
		await using _disk = await makeLoopDisk();
		return null;
	} catch (error) {
		return `an image cannot be made and mounted here: ${error instanceof Error ? error.message.trim() : String(error)}`;
	}
}

/** A new, empty ext4. @throws Error where loop mounts are not available */
export async function makeLoopDisk(): Promise<LoopDisk> {
	const directory = await mkdtemp(join(tmpdir(), 'handraise-powercut-'));
	const image = join(directory, 'image');
	try {
		await run('truncate', ['-s', SIZE, image]);
		await run('mkfs.ext4', ['-q', '-F', image]);
		return await mountImage(directory, image);
	} catch (error) {
		await rm(directory, { recursive: true, force: true });
		throw error;
	}
}

async function mountImage(directory: string, image: string): Promise<LoopDisk> {
	const path = join(directory, 'mounted');
	await mkdir(path, { recursive: true });
	await run('mount', ['-o', 'loop', image, path]);
	return {
		path,
		async cut() {
			const other = await mkdtemp(join(tmpdir(), 'handraise-powercut-'));
			const copy = join(other, 'image');
			await run('cp', ['--sparse=always', image, copy]);
			return mountImage(other, copy);
		},
		async [Symbol.asyncDispose]() {
			await run('umount', [path]);
			await rm(directory, { recursive: true, force: true });
		},
	};
}
