import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FakeSessionService } from '../fake-session-service/fake-session-service.ts';
import type { SlackState } from '../fake-slack/index.ts';

/** How often the workspace is saved while it runs: a kill loses at most this much of it, and nothing of the app. */
const SAVE_MS = 2000;

export interface Kept {
	slack: SlackState;
	/** Read marks, as entries of their map. */
	marks: [string, string][];
	servicePort: number;
	/** How far the clock was moved. Absent in what was kept before it could be. */
	clockOffsetMs?: number;
	sessions: ReturnType<FakeSessionService['sessions']['snapshot']>;
}

export interface Keeper {
	/** The state of the last run; null at the first. */
	readonly kept: Kept | null;
	readonly dataDir: string;
	/** Saves what `now` returns, periodically. */
	watch(now: () => Kept): void;
	close(now: () => Kept): Promise<void>;
}

async function readKept(path: string): Promise<Kept | null> {
	try {
		return JSON.parse(await readFile(path, 'utf8')) as Kept;
	} catch (error) {
		if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
		throw new Error(`The sandbox cannot read its saved state in ${path}. Delete the file to start anew.`, {
			cause: error,
		});
	}
}

/**
 * Keeps the workspace, the sessions and the app's data in a folder. Without one the app's data are deleted at the end.
 */
export async function createKeeper(folder: string | null): Promise<Keeper> {
	if (folder === null) {
		const dataDir = await mkdtemp(join(tmpdir(), 'handraise-sandbox-'));
		return {
			kept: null,
			dataDir,
			watch: () => undefined,
			close: () => rm(dataDir, { recursive: true, force: true }),
		};
	}
	const dataDir = join(folder, 'data');
	await mkdir(dataDir, { recursive: true });
	const path = join(folder, 'workspace.json');
	const kept = await readKept(path);
	let written = '';
	let writing = Promise.resolve();
	let timer: NodeJS.Timeout | null = null;

	function save(now: () => Kept): Promise<void> {
		writing = writing.then(async () => {
			const json = JSON.stringify(now());
			if (json === written) return;
			// Writes a new file and renames it: a kill leaves the old or the new one whole.
			await writeFile(`${path}.new`, json);
			await rename(`${path}.new`, path);
			written = json;
		});
		return writing;
	}
	return {
		kept,
		dataDir,
		watch(now) {
			timer = setInterval(() => void save(now).catch(() => undefined), SAVE_MS);
			timer.unref();
		},
		async close(now) {
			if (timer !== null) clearInterval(timer);
			await save(now);
		},
	};
}
