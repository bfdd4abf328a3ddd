import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Edit, edited } from './edits/edit.ts';

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A copy of the program in a temporary directory, with these edits. A run of many minutes must not see its program
 * change, and sabotage must not touch the working tree.
 * @throws Error when an edit does not find its place, see `edited`
 */
export async function copySource({
	edits = [],
	commit = null,
}: {
	readonly edits?: readonly Edit[];
	/** The commit to take the program from; the working tree by default. */
	readonly commit?: string | null;
} = {}) {
	// Not inside node_modules: Node does not run TypeScript from there.
	const directory = await mkdtemp(join(tmpdir(), 'handraise-source-'));
	const dispose = (): Promise<void> => rm(directory, { recursive: true, force: true });
	try {
		if (commit === null) {
			await cp(join(ROOT, 'src'), join(directory, 'src'), { recursive: true });
		} else {
			const archive = join(directory, 'src.tar');
			await run('git', ['-C', ROOT, 'archive', '--output', archive, commit, 'src']);
			await run('tar', ['-C', directory, '-xf', archive]);
		}
		await cp(join(ROOT, 'package.json'), join(directory, 'package.json'));
		await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
		for (const edit of edits) {
			const path = join(directory, 'src', edit.file);
			await writeFile(path, edited(await readFile(path, 'utf8'), edit));
		}
	} catch (error) {
		await dispose();
		throw error;
	}
	return {
		/** The copy's `main.ts`. */
		entry: join(directory, 'src', 'main.ts'),
		[Symbol.asyncDispose]: dispose,
	};
}

/** Whether `copySource` finds this commit. */
export async function isCommit(name: string): Promise<boolean> {
	return await run('git', ['-C', ROOT, 'cat-file', '-e', `${name}:src/main.ts`]).then(
		() => true,
		() => false,
	);
}
