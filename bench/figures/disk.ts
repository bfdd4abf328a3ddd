import { fdatasyncSync, writeSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const WRITES = 100;
const PAGE_BYTES = 4096;

/** Milliseconds of each append of 4 kB followed by fdatasync, in a new file of the temporary directory (`TMPDIR`). */
export async function measureDisk(): Promise<number[]> {
	const own = await mkdtemp(join(tmpdir(), 'handraise-disk-'));
	const file = await open(join(own, 'file'), 'w');
	try {
		const page = Buffer.alloc(PAGE_BYTES, 1);
		return Array.from({ length: WRITES }, () => {
			const start = performance.now();
			writeSync(file.fd, page);
			fdatasyncSync(file.fd);
			return performance.now() - start;
		});
	} finally {
		await file.close();
		await rm(own, { recursive: true, force: true });
	}
}
