import { EventEmitter, once } from 'node:events';
import { startDeadline } from '../../kernel/clock.ts';
import { COMMAND } from '../../kernel/command-name.ts';
import { type Invocation, notChecked } from './check.ts';
import { at, type Json, type SlackCall } from './requests.ts';

/** What a person does, by the name of the request that Slack then sends: words for when it came, and when not. */
const STEPS: Readonly<Record<string, readonly [seen: string, undone: string]>> = {
	press: ['press', 'nobody pressed within 5 minutes'],
	typing: ['word', 'nothing was typed before Send, or within 5 minutes'],
	command: ['command', `nobody typed ${COMMAND}, or the manifest in Slack names another command`],
	view_submission: ['Send', 'nobody pressed Send within 5 minutes'],
	app_home_opened: ['Home tab', 'Slack told of no opening of the Home tab'],
	app_mention: ['reply', 'Slack told of no mention in the thread'],
	message: ['direct message', 'optional, and nobody wrote a direct message'],
	member_left_channel: ['leaving', 'optional, and nobody left the channel'],
	user_change: ['change', 'optional, and nobody changed their status'],
	member_joined_channel: ['joining', 'optional, and nobody joined the channel'],
};
/** Reasons to refuse a request that Slack may have signed. Anybody can cause the other reasons. */
const BAD_SIGNATURES: readonly unknown[] = ['wrong_signature', 'stale', 'ahead'];

export type Live = ReturnType<typeof createLive>;

/** What the tries share. `found`: the first reply or request of each name. `given`: the channel. */
export function createLive(given: string, call: SlackCall, { clock, signal, lines: { log: say } }: Invocation) {
	const news = new EventEmitter();
	const found: Record<string, Json> = {};
	const posted: string[] = [];
	const limits: (string | null)[] = [];
	const undone: string[] = [];
	const refused = new AbortController();
	const over = AbortSignal.any([signal, refused.signal]);
	const whyOver = () => (typeof over.reason === 'string' ? over.reason : 'interrupted');

	/** Resolves to the reply, ok or not; repeats a limited call. Throws `notChecked`. */
	async function slack(method: string, args: Json): Promise<Json> {
		const reply = await call(method, args);
		if (reply.kind !== 'unreachable') return reply.data;
		if (reply.limitedSec === null) throw notChecked(reply.why);
		limits.push(reply.response.kind === 'response' ? reply.response.headers.get('retry-after') : null);
		await clock.sleep(reply.limitedSec * 1_000);
		return slack(method, args);
	}

	async function post(name: string, content: Json): Promise<Json> {
		// An empty `ts` stays when Slack does not answer, because the post may exist.
		const place = posted.push('') - 1;
		const metadata = { event_type: 'handraise_check', event_payload: { key: 'kept' } };
		const reply = await slack('chat.postMessage', { channel: found.root?.channel ?? given, metadata, ...content });
		posted.splice(place, 1, ...(reply.ok === true ? [String(reply.ts)] : []));
		if (reply.ok === true) found[name] = reply;
		return reply;
	}

	function onArrival(body: Json): void {
		// The other tab of the app's home has the same event.
		const tab = at(body, 'event.tab') === 'messages' ? 'messages_tab' : undefined;
		const name = String(
			tab ??
				at(body, 'event.type') ??
				at(body, 'actions.0.action_id') ??
				(body.command === undefined ? body.type : 'command'),
		);
		const [seen] = STEPS[name] ?? [];
		if (seen !== undefined && found[name] === undefined) say(`  ${seen}: seen`);
		found[name] ??= body;
		// Nobody can type any more.
		if (name === 'view_submission') found.typing ??= {};
		for (const waited of name === 'view_submission' ? ['typing', name] : [name]) news.emit(waited);
		if (BAD_SIGNATURES.includes(body.reason)) refused.abort(`a request was refused: ${body.reason}`);
	}

	/** A text that was found, by its path. Throws `notChecked`. */
	function need(path: string): string {
		if (over.aborted) throw notChecked(whyOver());
		const value = at(found, path);
		if (typeof value === 'string') return value;
		const name = path.split('.')[0] ?? '';
		const why = STEPS[name]?.[1] ?? `no ${name} came`;
		if (!why.startsWith('optional')) undone.push(why);
		throw notChecked(why);
	}

	async function wait(name: string, ms: number): Promise<void> {
		using deadline = startDeadline(clock, ms);
		const ended = AbortSignal.any([deadline.signal, over]);
		if (found[name] === undefined) await once(news, name, { signal: ended }).catch(() => {});
	}

	/** The first request with this name. Throws `notChecked` after `ms`. */
	async function arrival(name: string, ms: number): Promise<Json> {
		await wait(name, ms);
		need(`${name}.type`);
		return found[name] ?? {};
	}

	return { slack, post, onArrival, need, wait, arrival, over, whyOver, undone, found, posted, limits, say };
}
