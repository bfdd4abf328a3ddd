import { inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createManualClock } from '../fake-slack/index.ts';
import type { SessionJson } from './json.ts';
import { drawScreenshot } from './png.ts';
import { startForTest } from './test-client.ts';

const DAY = 24 * 60 * 60 * 1000;

/** Reads a PNG with one data chunk, 8-bit RGB. */
function decode(png: Buffer): { width: number; height: number; raw: Buffer } {
	expect(png.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
	const data = png.indexOf('IDAT');
	const length = png.readUInt32BE(data - 4);
	return {
		width: png.readUInt32BE(16),
		height: png.readUInt32BE(20),
		raw: inflateSync(png.subarray(data + 4, data + 4 + length)),
	};
}

it('gives a picture as screenshot, another one for each step', async () => {
	await using client = await startForTest();
	const session = await client.session('demo');
	const response = await fetch(String(session.lastScreenshotUrl));
	expect(response.headers.get('content-type')).toBe('image/png');
	const png = Buffer.from(await response.arrayBuffer());
	const { width, height, raw } = decode(png);
	expect(raw.length).toBe((width * 3 + 1) * height);
	expect(png.equals(drawScreenshot(3))).toBe(true);
	expect(drawScreenshot(3).equals(drawScreenshot(8))).toBe(false);
});

it('gives a file through its link without a key, and not through a forged one', async () => {
	await using client = await startForTest();
	const session = await client.session('completed');
	const links = new Map(session.files?.map((file) => [file.filename, String(file.signedUrl)]));
	expect([...links.keys()]).toEqual(['suppliers.csv', 'notes (final).md']);
	const file = await client.send('GET', links.get('suppliers.csv') ?? '');
	expect([file.status, file.text]).toEqual([200, 'name,price\nVelo One,1190\nRad & Co,1240\n']);
	const forged = (links.get('suppliers.csv') ?? '').replace('suppliers.csv', 'notes%20(final).md');
	expect((await client.send('GET', forged)).status).toBe(403);
});

it('expires a link after seven days, and gives a fresh one with a later read', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	const old = String((await client.session('completed')).lastScreenshotUrl);
	await clock.advance(7 * DAY);
	expect((await client.send('GET', old)).status).toBe(200);
	await clock.advance(1);
	expect((await client.send('GET', old)).status).toBe(403);
	const fresh = String((await client.session('completed')).lastScreenshotUrl);
	expect((await client.send('GET', fresh)).status).toBe(200);
});

it('changes the tag, the files’ timestamps and extra fields with renewed links, and nothing that people see', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	const before = await client.read('completed');
	client.service.sessions.renewLinks('completed');
	const renewed = await client.read('completed', { 'if-none-match': String(before.headers.etag) });
	expect(renewed.status).toBe(200);
	expect(renewed.json.session.userId).toBeTypeOf('string');
	const after = await client.read('completed', { 'if-none-match': String(renewed.headers.etag) });
	expect(after.status).toBe(200);
	expect(after.json.session).not.toHaveProperty('userId');
	expect(after.json.session.lastScreenshotUrl).toBe(renewed.json.session.lastScreenshotUrl);
	expect(after.json.session.lastScreenshotUrl).not.toBe(before.json.session.lastScreenshotUrl);
	expect(after.json.session.messages).toEqual(before.json.session.messages);
	const filesOf = ({ session }: { session: SessionJson }, timestamp?: string) =>
		session.files?.map((file) => [file.filename, timestamp ?? file.timestamp]);
	const issued = new Date(clock.now() + 1).toISOString();
	expect(filesOf(after.json)).toEqual(filesOf(before.json, issued));
	expect((await client.read('completed', { 'if-none-match': String(after.headers.etag) })).status).toBe(304);
});
