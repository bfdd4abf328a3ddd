import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** One place of the source, with its text before and after. */
export interface Replacement {
	/** Relative to `src`. */
	readonly file: string;
	readonly from: string;
	readonly to: string;
}

export interface SourceCopy extends AsyncDisposable {
	/** The copy's `main.ts`. */
	readonly entry: string;
}

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A copy of the program in a temporary directory, with places replaced. A run of many minutes must not see its program
 * change, and sabotage must not touch the working tree.
 * @throws Error when a place is not there exactly once
 */
export async function copySource({
	replacements = [],
	commit,
}: {
	readonly replacements?: readonly Replacement[];
	/** The commit to take the program from; the working tree by default. */
	readonly commit?: string | undefined;
} = {}): Promise<SourceCopy> {
	// Not inside node_modules: Node does not run TypeScript from there.
	const directory = await mkdtemp(join(tmpdir(), 'handraise-source-'));
	if (commit === undefined) {
		await cp(join(ROOT, 'src'), join(directory, 'src'), { recursive: true });
	} else {
		const archive = join(directory, 'src.tar');
		await run('git', ['-C', ROOT, 'archive', '--output', archive, commit, 'src']);
		await run('tar', ['-C', directory, '-xf', archive]);
	}
	await cp(join(ROOT, 'package.json'), join(directory, 'package.json'));
	await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
	for (const { file, from, to } of replacements) {
		const path = join(directory, 'src', file);
		const parts = (await readFile(path, 'utf8')).split(from);
		if (parts.length !== 2) {
			throw new Error(`src/${file} must hold this text once, and holds it ${parts.length - 1} times:\n${from}`);
		}
		await writeFile(path, parts.join(to));
	}
	return {
		entry: join(directory, 'src', 'main.ts'),
		[Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
	};
}
