import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sabotage } from './sabotage.ts';

const FAKE = fileURLToPath(new URL('../', import.meta.url));

/** The file with its one place replaced. Throws when the place is not there exactly once. */
export function sabotaged({ name, file, from, to }: Sabotage, folder = FAKE): string {
	const parts = readFileSync(join(folder, file), 'utf8').split(from);
	if (parts.length !== 2) {
		throw new Error(`${file} must hold this text once for "${name}", and holds it ${parts.length - 1} times:\n${from}`);
	}
	return parts.join(to);
}

export interface TreeCopy extends Disposable {
	readonly root: string;
	/** The fake's folder in the copy. */
	readonly fake: string;
	/** Runs a function on the sabotaged copy, and restores the copy. */
	under<T>(sabotage: Sabotage, act: () => Promise<T>): Promise<T>;
}

/** A copy of the working tree in a temporary directory: the tree itself stays unchanged. */
export function copyTree(): TreeCopy {
	const git = (...args: string[]) => execFileSync('git', ['-C', FAKE, ...args], { encoding: 'utf8' });
	const tree = git('rev-parse', '--show-toplevel').trim();
	const root = mkdtempSync(join(tmpdir(), 'fake-slack-'));
	const files = git(
		'ls-files',
		'-z',
		'--cached',
		'--others',
		'--exclude-standard',
		'--deduplicate',
		'--full-name',
		tree,
	);
	const deleted = new Set(git('ls-files', '-z', '--deleted', '--full-name', tree).split('\0'));
	for (const file of files.split('\0')) {
		if (file === '' || file === 'node_modules' || deleted.has(file)) continue;
		cpSync(join(tree, file), join(root, file));
	}
	symlinkSync(join(tree, 'node_modules'), join(root, 'node_modules'));
	const fake = join(root, relative(tree, FAKE));
	return {
		root,
		fake,
		async under(sabotage, act) {
			const path = join(fake, sabotage.file);
			const whole = readFileSync(path, 'utf8');
			writeFileSync(path, sabotaged(sabotage, fake));
			try {
				return await act();
			} finally {
				writeFileSync(path, whole);
			}
		},
		[Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
	};
}
