import { execFile } from 'node:child_process';
import { access, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Where distributions and people install a browser. */
const INSTALLED = [
	'/usr/bin/chromium',
	'/usr/bin/google-chrome',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * Flags of the packaged browser for cloud functions that would make tests prove less: one process for everything
 * (closing a window ends it), and pages without web security.
 */
const NOT_OURS = ['--single-process', '--disable-web-security', '--allow-running-insecure-content'];

async function installedBrowser(): Promise<string | null> {
	for (const path of [process.env.CHROME_PATH ?? '', ...INSTALLED]) {
		if (path === '') continue;
		try {
			await access(path);
			return path;
		} catch {
			// Not found here: try the next one.
		}
	}
	return null;
}

const IS_PACKAGED = process.platform === 'linux' && process.arch === 'x64';

/** The path of the browser, or null. Unpacks the packaged one into the system's temporary directory once. */
async function browserPath(): Promise<string | null> {
	return IS_PACKAGED ? await chromium.executablePath() : await installedBrowser();
}

/** Unpacks the packaged browser, also when a file is in its place that does not start: one that was cut off, for example. */
export async function unpackBrowser(): Promise<void> {
	if (!IS_PACKAGED) return;
	const path = await chromium.executablePath();
	try {
		await promisify(execFile)(path, ['--version']);
	} catch {
		await rm(path);
		await chromium.executablePath();
	}
}

/**
 * A headless Chromium: the packaged one on Linux x64 (it needs no system libraries), otherwise an installed Chrome.
 * CHROME_PATH may name one.
 */
export async function launchBrowser(): Promise<Browser> {
	const path = await browserPath();
	if (path === null) throw new Error('No Chrome was found. Install one, or set CHROME_PATH to its path.');
	// The page draws no WebGL, and without it the browser starts and paints faster.
	chromium.setGraphicsMode = false;
	const own = IS_PACKAGED ? chromium.args.filter((one) => !NOT_OURS.includes(one)) : [];
	return playwright.launch({
		executablePath: path,
		args: [...own, '--no-sandbox', '--disable-background-networking'],
		headless: true,
	});
}

/** The accessible name of a button with this label, which may say what about: `Answer: Which row?`. */
export const buttonNamed = (label: string) =>
	new RegExp(`^${label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:$|: | \\()`);
