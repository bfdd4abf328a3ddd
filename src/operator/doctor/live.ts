import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { parseConfig, readSettings } from '../../config.ts';
import { within } from '../../kernel/clock.ts';
import { HandraiseError } from '../../kernel/errors.ts';
import { ASSUMPTIONS } from './assumptions.ts';
import { type Finding, findingsOf, type Invocation, inspect, notChecked } from './check.ts';
import { checkProxy, checkSettings } from './environment.ts';
import { ROOT, section, windowOf } from './live-blocks.ts';
import { createLive, type Live } from './live-exchange.ts';
import { at, createSlackCall, type Json } from './requests.ts';
import { checkBotToken } from './slack.ts';

const CONNECT_MS = 30_000;

async function tryStep(check: string, holds: () => Promise<void>): Promise<Finding> {
	try {
		await holds();
		return { verdict: 'ok', check, text: 'as assumed.' };
	} catch (error) {
		// Messages of other errors may hold secrets.
		const { code, message } = error instanceof HandraiseError ? error : new HandraiseError('the check itself failed');
		if (code === 'not_checked') return { verdict: 'skipped', check, text: `not tried (${message}).` };
		return { verdict: 'failure', check, text: `different (${message}).` };
	}
}

async function cleanUp({ slack, found, posted }: Live): Promise<readonly Finding[]> {
	const { failure, okIfNone } = findingsOf('Clean-up');
	async function attempt(method: string, args: Json): Promise<string | null> {
		const reply = await slack(method, args).catch((error: Error) => ({ ok: false, error: error.message }));
		return reply.ok === true ? null : String(reply.error);
	}
	if (found.window !== undefined && found.view_submission === undefined) {
		const view = windowOf(section('Close this window.'));
		await attempt('views.update', { view_id: at(found, 'window.view.id'), view });
	}
	for (const ts of posted.toReversed()) {
		const channel = found.root?.channel;
		const why = ts === '' ? 'no answer, if it is there' : await attempt('chat.delete', { channel, ts });
		if (why !== null && why !== 'message_not_found')
			failure(`delete the message ${ts} of the app in the channel yourself (${why}).`);
	}
	if (found.home !== undefined) {
		const view = { type: 'home', blocks: [section('This tab fills when you open it while Handraise runs.')] };
		const why = await attempt('views.publish', { user_id: at(found, 'press.user.id'), view });
		if (why !== null) failure(`your Home tab shows a page of the check until Handraise fills it (${why}).`);
	}
	return okIfNone(
		"the app's messages are deleted. Yours stay, and your Home tab fills when you open it while Handraise runs.",
	);
}

/** Why the server cannot listen; null when it does. */
async function listen(server: Server, port: number, host: string | null): Promise<string | null> {
	const listening = once(server.listen({ port, ...(host !== null && { host }) }), 'listening');
	const problemOf = ({ code }: NodeJS.ErrnoException) => `The port ${port} cannot be used (${code})`;
	return listening.then(() => null, problemOf);
}

export async function* checkLive(channel: string, invocation: Invocation): AsyncGenerator<Finding> {
	const { env, clock, proxy, signal } = invocation;
	const reading = readSettings(env);
	if (reading.problems.length > 0) {
		return yield* checkSettings(findingsOf('Settings'), { problems: reading.problems });
	}
	yield* checkProxy(findingsOf('Proxy'), reading);
	const config = parseConfig(env);
	const call = createSlackCall(config.SLACK_API_URL, config.SLACK_BOT_TOKEN);
	const auth = await call('auth.test');
	const token = checkBotToken(findingsOf('Bot token'), auth);
	if (auth.kind !== 'ok' || token[0]?.verdict !== 'ok') return yield* token;
	const { failure } = findingsOf('Live check');
	const look = await inspect(config.DATABASE_URL, config.DATA_DIR);
	const server = createServer();
	const isInUse = look.kind === 'database' && look.inUse;
	const sign = isInUse ? 'Its database is in use' : await listen(server, config.PORT, config.HOST);
	if (sign !== null) return yield* failure(`stop Handraise first, it would get a part of what Slack sends. ${sign}.`);
	const live = createLive(channel, call, invocation);
	live.found.auth = auth.data;
	const { createArrivals } = await import('../../slack/bolt-app.ts');
	const { app, listener } = createArrivals({ config, proxy }, auth.data, live.onArrival);
	if (listener !== null) server.on('request', (request, response) => listener(request, response, () => {}));
	const late = (): never => {
		throw notChecked('Slack opens no connection');
	};
	try {
		await within(clock, Promise.race([app.start(), once(signal, 'abort').then(late)]), CONNECT_MS, late);
		const { ok, error } = await live.post('root', ROOT);
		if (ok !== true)
			return yield* failure(`the app cannot post into ${channel} (${error}): invite it there, or correct the name.`);
		const tries = Object.entries(ASSUMPTIONS);
		let count = 0;
		for (const [name, holds] of tries) {
			const finding = await tryStep(name, () => holds(live));
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
