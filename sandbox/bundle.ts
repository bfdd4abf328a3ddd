import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface PageFile {
	readonly type: string;
	readonly content: Uint8Array | string;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const TYPES: Record<string, string> = {
	js: 'text/javascript; charset=utf-8',
	css: 'text/css; charset=utf-8',
	woff2: 'font/woff2',
};

let built: Promise<ReadonlyMap<string, PageFile>> | undefined;

/** The page's files by path, built once in a process. Nothing is fetched from elsewhere or written to disk. */
export function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
	built ??= buildPage();
	return built;
}

async function buildPage(): Promise<ReadonlyMap<string, PageFile>> {
	const result = await build({
		entryPoints: [here('page/main.tsx')],
		bundle: true,
		splitting: true,
		format: 'esm',
		minify: true,
		target: 'es2022',
		jsx: 'automatic',
		define: { 'process.env.NODE_ENV': '"production"' },
		outdir: here('page'),
		entryNames: 'page',
		chunkNames: '[name]-[hash]',
		// Browsers take the other format of the emoji.
		external: ['*.woff'],
		loader: { '.woff2': 'file' },
		assetNames: '[name]',
		write: false,
		logLevel: 'silent',
	});
	const files = new Map<string, PageFile>();
	for (const file of result.outputFiles) {
		const name = file.path.slice(file.path.lastIndexOf('/') + 1).replace(/^.*\\/, '');
		files.set(`/${name}`, {
			type: TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
			content: file.contents,
		});
	}
	files.set('/', { type: 'text/html; charset=utf-8', content: await readFile(here('page/index.html'), 'utf8') });
	return files;
}
