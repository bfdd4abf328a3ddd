import { once } from 'node:events';
import { createServer } from 'node:http';
import { startDeadline } from '../clock.ts';
import { parseConfig, readSettings } from '../config.ts';
import { HandraiseError } from '../errors.ts';
import type { applyProxy } from '../proxy.ts';
import { ASSUMPTIONS, ROOT, section, windowOf } from './assumptions.ts';
import { checkPort, checkProxy, checkSettings, listen } from './environment.ts';
import { type CheckProcess, createLive, type Live, notTried } from './live-slack.ts';
import { type Finding, findingsOf } from './report.ts';
import { at, createSlackCall, type Json } from './request.ts';
import { inspect } from './setup.ts';
import { checkBotToken } from './slack.ts';

const CONNECT_MS = 30_000;

/** What the check takes from its process. */
export interface LiveOptions extends CheckProcess {
	readonly env: NodeJS.ProcessEnv;
	readonly proxy: ReturnType<typeof applyProxy>;
}

async function judge(check: string, holds: () => Promise<void>): Promise<Finding> {
	try {
		await holds();
		return { verdict: 'ok', check, text: 'as assumed.' };
	} catch (error) {
		// Messages of other errors may hold secrets.
		const { code, message } = error instanceof HandraiseError ? error : new HandraiseError('the check itself failed');
		if (code === 'not_tried') return { verdict: 'skipped', check, text: `not tried (${message}).` };
		return { verdict: 'failure', check, text: `different (${message}).` };
	}
}

/** Takes back what the check made, and names what it could not. */
async function cleanUp({ slack, found, posted }: Live): Promise<readonly Finding[]> {
	const { root, window, view_submission: sent, home, press } = found;
	const { failure, okIfNone } = findingsOf('Clean-up');
	/** Resolves to what went wrong, or null. */
	async function attempt(method: string, args: Json): Promise<string | null> {
		const reply = await slack(method, args).catch((error: Error) => ({ ok: false, error: error.message }));
		return reply.ok === true ? null : String(reply.error);
	}
	const show = (blocks: unknown, more: object = {}) =>
		attempt('views.publish', { user_id: at(press, 'user.id'), view: { type: 'home', blocks, ...more } });
	if (window !== undefined && sent === undefined) {
		await attempt('views.update', { view_id: at(window, 'view.id'), view: windowOf(section('Close this window.')) });
	}
	for (const ts of posted.toReversed()) {
		const why = ts === '' ? 'no answer, if it is there' : await attempt('chat.delete', { channel: root?.channel, ts });
		if (why !== null && why !== 'message_not_found')
			failure(`delete the message ${ts} of the app in the channel yourself (${why}).`);
	}
	let shown = 'is as before';
	const { blocks, private_metadata, callback_id } = { ...(home?.former as Json) };
	if (
		home !== undefined &&
		(blocks === undefined || (await show(blocks, { private_metadata, callback_id })) !== null)
	) {
		shown = 'fills when you open it while Handraise runs';
		const why = await show([section('This tab fills when you open it while Handraise runs.')]);
		if (why !== null) failure(`your Home tab shows a page of the check until Handraise fills it (${why}).`);
	}
	return okIfNone(`the app's messages are deleted, and your Home tab ${shown}. Your own messages stay.`);
}

/** Tries each assumption in a workspace, with the operator's help. Yields a finding for each, and for the clean-up. */
export async function* checkLive(channel: string, options: LiveOptions): AsyncGenerator<Finding> {
	const { env, clock, proxy, signal } = options;
	const reading = readSettings(env);
	if (reading.problems.length > 0) {
		return yield* checkSettings(findingsOf('Settings'), { ...reading, unknown: [] });
	}
	const throughProxy = findingsOf('Proxy');
	checkProxy(throughProxy, reading);
	yield* throughProxy.all;
	const { slack, port } = parseConfig(env);
	const auth = await createSlackCall(slack.apiUrl, slack.botToken)('auth.test');
	const token = checkBotToken(findingsOf('Bot token'), auth);
	if (auth.kind !== 'ok' || token[0]?.verdict !== 'ok') return yield* token;
	const { failure } = findingsOf('Live check');
	const look = await inspect(reading.settings);
	const server = createServer();
	const isInUse = look?.kind === 'database' && look.inUse;
	const [taken] = isInUse || (await listen(server, port)) === null ? [] : await checkPort(findingsOf('Port'), port);
	if (taken?.verdict === 'failure') return yield taken;
	const inUse = isInUse ? 'Its database is in use.' : taken?.text;
	if (inUse !== undefined)
		return yield* failure(`stop Handraise first, it would get a part of what Slack sends. ${inUse}`);
	const live = createLive(channel, slack, options);
	live.found.auth = auth.data;
	const { createArrivals } = await import('../slack/bolt-app.ts');
	const { app, listener } = createArrivals({ config: slack, proxy }, auth.data, live.onArrival);
	if (listener !== null) server.on('request', (request, response) => listener(request, response, () => {}));
	const deadline = startDeadline(clock, CONNECT_MS);
	const late = once(AbortSignal.any([deadline.signal, signal]), 'abort').then(() => {
		throw notTried('Slack opens no connection');
	});
	try {
		await Promise.race([app.start(), late]).finally(deadline.end);
		const { ok, error } = await live.post('root', ROOT);
		if (ok !== true)
			return yield* failure(`the app cannot post into ${channel} (${error}): invite it there, or correct the name.`);
		const tries = Object.entries(ASSUMPTIONS);
		let count = 0;
		for (const [name, holds] of tries) {
			const finding = await judge(name, () => holds(live));
			if (finding.verdict === 'skipped') count++;
			yield finding;
		}
		const why = live.over.aborted ? live.whyOver() : live.undone[0];
		const todo = why?.includes('refused') ? "Correct SLACK_SIGNING_SECRET or this machine's clock, and run" : 'Run';
		if (why !== undefined) yield* failure(`${count} of ${tries.length} were not tried: ${why}. ${todo} it again.`);
	} catch (error) {
		yield* failure(error instanceof HandraiseError ? `${error.message}.` : 'it failed itself.');
	} finally {
		if (live.posted.length > 0) yield* await cleanUp(live);
		await app.stop();
		server.close().closeAllConnections();
	}
}
