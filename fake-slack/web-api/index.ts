import type { HttpBindings } from '@hono/node-server';
import { WebClient } from '@slack/web-api';
import { type Context, Hono } from 'hono';
import { type Core, SlackError } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { CallFault } from '../faults.ts';
import { isRecord, type Json } from '../json.ts';
import { spendResponseUrl } from '../response-urls.ts';
import type { Sockets } from '../sockets.ts';
import type { TrafficEntry } from '../traffic.ts';
import { appMethods } from './app.ts';
import { readArguments } from './arguments.ts';
import { chatMethods } from './chat.ts';
import { conversationMethods } from './conversations.ts';
import type { Methods } from './method.ts';
import { peopleMethods } from './people.ts';
import { createRates } from './rates.ts';
import { viewMethods } from './views.ts';

type Env = { Bindings: HttpBindings };
interface Answer {
	status: number;
	body: Json | string;
	headers?: Record<string, string>;
}

const METHODS: Methods = { ...appMethods, ...chatMethods, ...conversationMethods, ...peopleMethods, ...viewMethods };

/** Slack's SDK, which knows the methods that Slack has. */
const sdk: unknown = new WebClient();
const inSdk = (name: string) => name.split('.').reduce((at, step) => (isRecord(at) ? at[step] : undefined), sdk);

function refusal(error: unknown): Json {
	if (!(error instanceof SlackError)) throw error;
	return { ok: false, error: error.code, ...error.extra };
}

function limited(retryAfter: number | string | null): Answer {
	return {
		status: 429,
		body: { ok: false, error: 'ratelimited' },
		headers: retryAfter === null ? {} : { 'retry-after': String(retryAfter) },
	};
}

function faulty(fault: CallFault): Answer | undefined {
	if (fault.status === 429) return limited(fault.retryAfter === undefined ? 30 : fault.retryAfter);
	if (fault.status !== undefined) return { status: fault.status, body: 'upstream connect error' };
	if (fault.answer !== undefined) return { status: 200, body: { ok: true, ...fault.answer } };
	return fault.error === undefined ? undefined : { status: 200, body: { ok: false, error: fault.error } };
}

/** The HTTP side of slack.com: `/api/<method>` and the response_url endpoints. */
export function createWebApi(core: Core, sockets: Sockets, deliverer: Deliverer): Hono<Env> {
	const app = new Hono<Env>();
	const rates = createRates(core);

	function call(name: string, token: string | undefined, args: Json): Answer {
		const method = METHODS[name];
		if (!method) {
			const [error, words] =
				typeof inSdk(name) === 'function'
					? ['not_in_this_fake_slack', `this fake Slack does not have ${name}, which Slack has`]
					: ['unknown_method', `Slack has no method ${name}`];
			core.traffic.violate({ where: name, messages: [words], payload: args });
			return { status: 200, body: { ok: false, error, req_method: name } };
		}
		if (method.token !== 'none') {
			if (token === undefined) return { status: 200, body: { ok: false, error: 'not_authed' } };
			if (token !== core.tokens.bot && token !== core.tokens.app) {
				return { status: 200, body: { ok: false, error: 'invalid_auth' } };
			}
			const refused = core.refusals[token === core.tokens.bot ? 'bot' : 'app'];
			if (refused !== null) return { status: 200, body: { ok: false, error: refused } };
			if (token !== core.tokens[method.token]) {
				return { status: 200, body: { ok: false, error: 'not_allowed_token_type' } };
			}
		}
		const context = { core, sockets, deliverer, args };
		const { scopes } = core.settings;
		const needed = typeof method.scopes === 'function' ? method.scopes(context) : method.scopes;
		const headers = { 'x-oauth-scopes': method.token === 'app' ? 'connections:write' : scopes.join(',') };
		if (needed.length > 0 && !needed.some((scope) => scopes.includes(scope))) {
			const body = { ok: false, error: 'missing_scope', needed: needed.join(','), provided: scopes.join(',') };
			return { status: 200, body, headers };
		}
		const wait = rates.take(name, method, args);
		if (wait !== null) return limited(wait);
		try {
			return { status: 200, body: { ok: true, ...method.run(context) }, headers };
		} catch (error) {
			return { status: 200, body: refusal(error), headers };
		}
	}

	/** Runs a call with its fault, if it has one, and writes the log. */
	async function serve(context: Context<Env>, entry: TrafficEntry, args: Json, run: () => Answer): Promise<Response> {
		const fault = core.faults.take(entry.name, args);
		const early = fault?.afterEffect === true ? run() : undefined;
		if (fault?.hold) {
			entry.isHeld = true;
			await fault.hold;
			entry.isHeld = false;
		}
		if (fault?.delayMs !== undefined) await core.clock.sleep(fault.delayMs);
		const wrong = fault && faulty(fault);
		const skipped = fault !== undefined && fault.afterEffect !== true && (wrong !== undefined || fault.drop === true);
		const right = skipped ? undefined : (early ?? run());
		if (fault?.drop) {
			core.traffic.finish(entry, { answer: 'connection dropped', status: null });
			context.env.incoming.socket.destroy();
			return new Response(null, { status: 503 });
		}
		const answer = wrong ?? right ?? { status: 500, body: 'no answer' };
		const metadata = isRecord(answer.body) ? answer.body.response_metadata : undefined;
		const messages = isRecord(metadata) && Array.isArray(metadata.messages) ? metadata.messages.map(String) : [];
		core.traffic.finish(entry, { answer: answer.body, status: answer.status, problems: messages });
		const json = typeof answer.body !== 'string';
		return new Response(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body), {
			status: answer.status,
			headers: {
				'content-type': json ? 'application/json; charset=utf-8' : 'text/plain',
				date: new Date(core.clock.now()).toUTCString(),
				...answer.headers,
			},
		});
	}

	app.on(['GET', 'POST'], '/api/:method', async (context) => {
		const name = context.req.param('method');
		const { args, token, refused } = await readArguments(context);
		const entry = core.traffic.begin({ direction: 'call', name, request: args });
		return serve(context, entry, args, () => {
			if (!refused) return call(name, token, args);
			core.traffic.violate({ where: name, messages: [refused.code], payload: args });
			return { status: 200, body: refusal(refused) };
		});
	});

	app.post('/actions/:team/:id', async (context) => {
		const { args, refused } = await readArguments(context);
		const entry = core.traffic.begin({ direction: 'response_url', name: 'response_url', request: args });
		return serve(context, entry, args, () => {
			if (refused) {
				core.traffic.violate({ where: 'response_url', messages: ['invalid_payload'], payload: args });
				return { status: 400, body: 'invalid_payload' };
			}
			try {
				spendResponseUrl(core, context.req.param('id'), args);
				return { status: 200, body: 'ok' };
			} catch (error) {
				const body = refusal(error);
				return { status: body.error === 'used_url' || body.error === 'expired_url' ? 404 : 200, body };
			}
		});
	});

	return app;
}
