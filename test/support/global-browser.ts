import { browserPath } from '../../sandbox/browser.ts';

/**
 * Unpacks the browser before the workers start. On a fresh machine one worker would start the file while another still
 * writes it, which fails with ETXTBSY.
 */
export default async function unpackBrowser(): Promise<void> {
	await browserPath();
}
