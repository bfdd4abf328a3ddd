import { afterEach, beforeEach } from 'vitest';
import { describeBoundValues } from './contract/bound-values.ts';
import { makeDataDir } from './support.ts';

let directory: ReturnType<typeof makeDataDir>;
beforeEach(() => {
	directory = makeDataDir();
});
afterEach(() => directory.remove());

describeBoundValues('SQLite', async () => ({ dataDir: directory.path }));
