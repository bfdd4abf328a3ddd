import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { Clock } from '../src/kernel/clock.ts';
import { registerControl } from './control.ts';
import { type Delivery, deliveryUnder, savesUnder } from './deliver.ts';
import type { Fault, Faults } from './faults.ts';
import { registerFiles } from './files.ts';
import { type ListOperation, type ListSettings, listFailed, planList } from './list.ts';
import type { LogEntry, RequestLog } from './log.ts';
import {
	jsonOutcome,
	type Outcome,
	type Plan,
	planOperation,
	refusalOfBody,
	sentenceOutcome,
	updateFailed,
} from './operations.ts';
import { type createRateLimiter, type RateLimitVerdict, tooManySentence } from './rate-limit.ts';
import type { Sessions } from './sessions.ts';
import { isMachineStopped, type State } from './state.ts';

/** Called in process at moments that fault runs need. May be set at any time. */
export interface Hooks {
	/** Before a request is handled, with its body read and logged. */
	onRequest?: (entry: LogEntry) => void | Promise<void>;
	/** Between loading the session of a PUT and saving it. Whoever saves it meanwhile is first. */
	onLoaded?: (entry: LogEntry) => void | Promise<void>;
	/** Right after a PUT was stored, before its response. */
	onSaved?: (entry: LogEntry) => void | Promise<void>;
	/** When a response is determined, before it is sent. */
	onWorkedOut?: (entry: LogEntry) => void | Promise<void>;
}

export interface AppSettings {
	readonly state: State;
	readonly clock: Clock;
	readonly log: RequestLog;
	readonly faults: Faults;
	readonly limiter: ReturnType<typeof createRateLimiter> | null;
	readonly sessions: Sessions;
	readonly list: ListSettings;
	readonly baseUrl: () => string;
	readonly hooks: Hooks;
	readonly apiKey: string;
	readonly keyCheckMs: number;
	readonly echoMessage: boolean;
	readonly startOnRead: boolean;
	/** Aborted when the service stops: it ends delayed requests and late saves. */
	readonly lifetime: () => AbortSignal;
}

type Env = { Bindings: HttpBindings };

/**
 * The service's HTTP side. Every request is logged, counted, put through the faults, worked out, saved and answered.
 */
export function createApp(settings: AppSettings): Hono<Env> {
	const { state, clock, log, faults, limiter, sessions, hooks, echoMessage } = settings;
	const app = new Hono<Env>();
	/** The check of the newest request's key. */
	let checking: Promise<void> = Promise.resolve();

	async function begin(c: Context<Env>, kind: LogEntry['kind'], sessionId: string | null): Promise<[LogEntry, Buffer]> {
		const at = clock.now();
		const body = Buffer.from(await c.req.arrayBuffer());
		const entry = log.begin({
			at,
			kind,
			method: c.req.method,
			path: kind === 'list' ? c.req.path + new URL(c.req.url).search : c.req.path,
			sessionId,
			address: c.env.incoming.socket.remoteAddress ?? '',
			hasKey: (c.req.header('x-api-key') ?? '') !== '',
			contentType: c.req.header('content-type') ?? null,
			ifNoneMatch: c.req.header('if-none-match') ?? null,
		});
		c.env.outgoing.once('close', () => {
			if (!c.env.outgoing.writableFinished && entry.answeredAt === null && !entry.reset) entry.clientGone = true;
		});
		return [entry, body];
	}

	/** Saves a PUT. Returns its response. */
	async function save(entry: LogEntry, plan: Plan): Promise<Outcome> {
		if (plan.save === undefined) return plan.outcome;
		const { record, messageIndex, items, version } = plan.save;
		// The database refuses what was loaded before another save.
		if (version !== record.version) return updateFailed();
		entry.sessionStatus = record.json.status ?? null;
		Object.assign(entry, state.save(record, messageIndex, items));
		entry.savedAt = clock.now();
		entry.savedWallMs = performance.timeOrigin + performance.now();
		await hooks.onSaved?.(entry);
		return isMachineStopped(record.json) ? updateFailed() : plan.outcome;
	}

	/** One key after the other: the checks need the processor. */
	function checkKey(): Promise<void> {
		const check = checking.then(() => clock.sleep(settings.keyCheckMs, settings.lifetime()));
		checking = check.catch(() => undefined);
		return check;
	}

	/** Waits for the delays. False when something in front dropped the request because the client had gone. */
	async function delay(entry: LogEntry, taken: readonly Fault[]): Promise<boolean> {
		for (const fault of taken) {
			if (fault.kind !== 'slow' && fault.kind !== 'late') continue;
			await clock.sleep(fault.ms, settings.lifetime());
			if (fault.kind === 'slow' && entry.clientGone) return false;
		}
		if (settings.keyCheckMs > 0) await checkKey();
		return true;
	}

	async function saveLater(entry: LogEntry, plan: Plan, ms: number): Promise<void> {
		try {
			await clock.sleep(ms, settings.lifetime());
		} catch {
			return;
		}
		// It was late before it loaded the session.
		const late = plan.save && { ...plan.save, version: plan.save.record.version };
		await save(entry, late === undefined ? plan : { ...plan, save: late });
	}

	async function list(c: Context<Env>, operation: ListOperation): Promise<Response> {
		const [entry] = await begin(c, 'list', null);
		await hooks.onRequest?.(entry);
		const verdict = limiter?.hit(entry.address);
		if (verdict !== undefined && !verdict.allowed) return tooMany(c, entry, verdict);
		const taken = faults.take('GET', null);
		entry.faults.push(...taken.map((fault) => fault.kind));
		if (!(await delay(entry, taken).catch(() => false))) return send(c, entry, { how: 'reset' }, {});
		const request = {
			operation,
			query: new URL(c.req.url).searchParams,
			apiKey: c.req.header('x-api-key') ?? null,
			ifNoneMatch: entry.ifNoneMatch,
			cacheControl: c.req.header('cache-control') ?? null,
		};
		const context = {
			state,
			settings: settings.list,
			apiKey: settings.apiKey,
			baseUrl: settings.baseUrl(),
			now: clock.now(),
		};
		const fault = taken.find((candidate) => candidate.kind !== 'slow' && candidate.kind !== 'late');
		const delivery = deliveryUnder(fault, planList(context, request), listFailed(operation));
		return send(c, entry, delivery, verdict?.headers ?? {});
	}

	/** `list`: a service without lists reads a session called "query". */
	async function operate(c: Context<Env>, kind: 'read' | 'answer' | 'list'): Promise<Response> {
		const sessionId = kind === 'list' ? 'query' : (c.req.param('id') ?? '');
		const [entry, body] = await begin(c, kind, sessionId);
		const request = {
			method: kind === 'answer' ? ('PUT' as const) : ('GET' as const),
			sessionId,
			apiKey: c.req.header('x-api-key') ?? null,
			contentType: entry.contentType,
			ifNoneMatch: entry.ifNoneMatch,
			cacheControl: c.req.header('cache-control') ?? null,
			body,
		};
		if (kind === 'answer') logBody(entry, body);
		await hooks.onRequest?.(entry);
		// The limiter comes after the parser and does not count what that refuses.
		const unparsed = kind === 'answer' ? refusalOfBody(request) : null;
		if (unparsed !== null) return send(c, entry, { how: 'answer', outcome: unparsed }, {});
		const verdict = limiter?.hit(entry.address);
		const limitHeaders = verdict?.headers ?? {};
		if (verdict !== undefined && !verdict.allowed) return tooMany(c, entry, verdict);
		const taken = faults.take(entry.method, kind === 'list' ? null : sessionId);
		entry.faults.push(...taken.map((fault) => fault.kind));
		if (!(await delay(entry, taken).catch(() => false))) return send(c, entry, { how: 'reset' }, {});

		if (kind === 'read' && settings.startOnRead && request.apiKey === settings.apiKey && !sessions.has(sessionId)) {
			if (sessions.scenarios.some((scenario) => scenario.id === sessionId)) sessions.start(sessionId);
		}
		const plan = planOperation({ state, apiKey: settings.apiKey, echoMessage }, request);
		if (plan.endsProcess) {
			entry.wouldEndProcess = true;
			return send(c, entry, { how: 'reset' }, {});
		}
		const fault = taken.find((candidate) => candidate.kind !== 'slow' && candidate.kind !== 'late');
		let { outcome } = plan;
		if (savesUnder(fault)) {
			if (plan.save !== undefined) await hooks.onLoaded?.(entry);
			if (fault?.saveAfterMs === undefined) outcome = await save(entry, plan);
			else void saveLater(entry, plan, fault.saveAfterMs);
		}
		const held = hooks.onWorkedOut?.(entry);
		if (held !== undefined) entry.faults.push('held');
		await held;
		const failed = kind === 'answer' ? updateFailed() : jsonOutcome(500, { error: 'Internal server error' });
		return send(c, entry, deliveryUnder(fault, outcome, failed), limitHeaders);
	}

	function tooMany(c: Context<Env>, entry: LogEntry, { resetSeconds, headers }: RateLimitVerdict): Response {
		const retryAfter = { 'Retry-After': String(resetSeconds) };
		const outcome = sentenceOutcome(429, tooManySentence(resetSeconds), retryAfter);
		return send(c, entry, { how: 'answer', outcome }, headers);
	}

	function send(c: Context<Env>, entry: LogEntry, delivery: Delivery, extra: Record<string, string>): Response {
		const socket = c.env.outgoing.socket;
		switch (delivery.how) {
			case 'hang':
				return RESPONSE_ALREADY_SENT;
			case 'reset':
				entry.reset = true;
				socket?.resetAndDestroy();
				return RESPONSE_ALREADY_SENT;
			case 'raw':
				entry.reset = true;
				socket?.end(delivery.bytes);
				return RESPONSE_ALREADY_SENT;
			case 'answer': {
				const { outcome } = delivery;
				entry.status = outcome.status;
				entry.answeredAt = clock.now();
				entry.byteCount = BODYLESS.has(outcome.status) ? 0 : Buffer.byteLength(outcome.body);
				if (delivery.cutOff) return cutOff(c, outcome);
				return toResponse(outcome, extra, delivery.chunked ?? false);
			}
		}
	}

	app.get('/v1/sessions', (c, next) => (settings.list.mode === 'off' ? next() : list(c, 'sessions')));
	app.get('/v1/sessions/query', (c) => (settings.list.mode === 'off' ? operate(c, 'list') : list(c, 'query')));
	app.get('/v1/sessions/:id', (c) => operate(c, 'read'));
	app.put('/v1/sessions/:id/update-human-input', (c) => operate(c, 'answer'));
	registerFiles(app, { state, clock, log });
	registerControl(app, {
		sessions,
		faults,
		log,
		useBudget: (requests, address = '127.0.0.1') => limiter?.use(address, requests),
	});
	app.all('*', async (c) => {
		const [entry] = await begin(c, 'other', null);
		const verdict = limiter?.hit(entry.address);
		const outcome =
			verdict === undefined || verdict.allowed
				? sentenceOutcome(404, `<!DOCTYPE html>\n<html><body><pre>Cannot ${c.req.method}</pre></body></html>\n`)
				: sentenceOutcome(429, tooManySentence(verdict.resetSeconds), { 'Retry-After': String(verdict.resetSeconds) });
		return send(c, entry, { how: 'answer', outcome }, verdict?.headers ?? {});
	});
	return app;
}

/** Logs what a PUT carried, whatever happens to it. */
function logBody(entry: LogEntry, body: Buffer): void {
	entry.text = body.toString('utf8');
	try {
		entry.body = JSON.parse(entry.text);
	} catch {
		entry.body = entry.text;
		return;
	}
	if (typeof entry.body === 'object' && entry.body !== null && 'messageIndex' in entry.body) {
		const { messageIndex } = entry.body;
		if (typeof messageIndex === 'number') entry.messageIndex = messageIndex;
	}
}

/** A status that carries no body, by HTTP. */
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);

function toResponse(outcome: Outcome, extra: Record<string, string>, chunked: boolean): Response {
	const headers = { ...extra, ...outcome.headers };
	if (BODYLESS.has(outcome.status)) return new Response(null, { status: outcome.status, headers });
	const bytes = Buffer.from(outcome.body);
	if (chunked) {
		const chunkedHeaders = { ...headers, 'Transfer-Encoding': 'chunked' };
		return new Response(new Blob([bytes]).stream(), { status: outcome.status, headers: chunkedHeaders });
	}
	return new Response(bytes, {
		status: outcome.status,
		headers: { ...headers, 'Content-Length': String(bytes.length) },
	});
}

/** Sends the head and half of the body, then resets the connection. */
function cutOff(c: Context<Env>, outcome: Outcome): Response {
	const { outgoing } = c.env;
	const bytes = Buffer.from(outcome.body);
	outgoing.writeHead(outcome.status, { ...outcome.headers, 'Content-Length': String(bytes.length) });
	outgoing.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => outgoing.socket?.destroy());
	return RESPONSE_ALREADY_SENT;
}
