import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Several test workers may start at once: each writes a file of its own, and the rename replaces the whole file. */
export function writeWholeFile(path: string, text: string): void {
	const temporary = `${path}.${process.pid}.tmp`;
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(temporary, text);
	renameSync(temporary, path);
}
