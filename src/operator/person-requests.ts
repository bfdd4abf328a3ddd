import { createHmac } from 'node:crypto';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Core } from '../core.ts';
import { createWaker, MINUTE_MS } from '../kernel/clock.ts';
import { codeOf } from '../kernel/errors.ts';
import { clearAnswerers } from '../sessions/channel-settings-store.ts';
import { recordOperator } from '../store/audit.ts';
import { type Cipher, type Db, type StoreDatabase, TABLES } from '../store/database.ts';
import { PERSON_TABLES } from '../store/person-ids.ts';
import { nameSalt, nextLetter, removeNameSalt, replyTo, takeAsked } from '../store/shared-states.ts';
import { createPersonStore } from './person-store.ts';

/** The socket in `DATA_DIR`. */
export const SOCKET = 'handraise.sock';
/** After this, nobody waits for the reply to a letter: a request that a command wrote as a row. */
const KEPT_MS = 5 * MINUTE_MS;
/** How often to look for letters after one came: a command asks several times in a row. */
const LOOK = { soonMs: 50, soonForMs: 2_000 };
/** How often to look otherwise. The store's own looks wake the loop. */
const REST_MS = 30_000;

/** The account that ran the command, and its machine, as the command says. */
const by = z.string().max(300).default('unknown');
const ASK = z.union([
	z.object({
		act: z.enum(['page', 'forget']),
		userId: z.string().regex(/^[UW][A-Z0-9]{2,30}$/),
		by,
		/** Of a page. */
		place: z.object({ table: z.enum(PERSON_TABLES), after: z.string() }).default({ table: 'answers', after: '' }),
	}),
	/** Empties the list of who may answer of a channel. */
	z.object({ act: z.literal('clear'), channelId: z.string().regex(/^[CG][A-Z0-9]{2,30}$/), by }),
]);
export type Ask = z.input<typeof ASK>;
/** When a letter was written, encrypted with it: whoever can write the database may put an old one back. */
const SENT = z.object({ at: z.number().default(0) });
export type Page = Awaited<ReturnType<ReturnType<typeof createPersonStore>['page']>>;
type Parts = { db: StoreDatabase; cipher: Cipher; compact(): Promise<boolean> };
export type Forgotten = Awaited<ReturnType<ReturnType<typeof createPersonStore>['forget']>>;

/** A name of this person in the audit, the same each time until somebody is forgotten. */
async function nameInAudit(trx: Db, userId: string): Promise<string> {
	return createHmac('sha256', await nameSalt(trx))
		.update(userId)
		.digest('hex')
		.slice(0, 16);
}

/**
 * Does what `npm run person` and `npm run settings` ask: over a socket in `DATA_DIR` that only this user and root can
 * open, or by rows.
 */
export function createPersonRequests({ config, clock, log, store: { db, cipher, compact } }: Core<Parts>) {
	const people = createPersonStore(cipher, Math.min(TABLES.posts.kept, config.RETENTION_DAYS));
	const waker = createWaker(clock);
	const stopping = new AbortController();
	let server: Server | null = null;
	let loop: Promise<void> | null = null;

	async function work(trx: Db, asked: string) {
		const ask = ASK.parse(JSON.parse(asked));
		const at = clock.now();
		const tx = { trx, now: at };
		if (ask.act === 'clear') {
			const { channelId: channel, by } = ask;
			const isCleared = await clearAnswerers(tx, channel, log);
			const outcome = isCleared ? 'cleared' : 'nothing';
			recordOperator(trx, by, { at, action: 'settingsChanged', channel, outcome });
			return { kind: outcome };
		}
		const { act, userId, place, by } = ask;
		if (act === 'page') {
			const reply = await people.page(trx, userId, place);
			const isFirst = place.table === PERSON_TABLES[0] && place.after === '';
			const outcome = place.table === PERSON_TABLES.at(-1) && reply.next === null ? 'done' : isFirst ? 'begun' : null;
			const about = outcome === null ? null : await nameInAudit(trx, userId);
			if (about !== null) recordOperator(trx, by, { at, action: 'personExported', about, outcome });
			return reply;
		}
		const about = await nameInAudit(trx, userId);
		const reply = await people.forget(tx, userId);
		if (reply.kind === 'forgotten') await removeNameSalt(trx);
		recordOperator(trx, by, { at, action: 'personForgotten', about, outcome: reply.kind });
		return reply;
	}

	/** Logs what is committed. */
	function note(reply: Awaited<ReturnType<typeof work>> | null): void {
		if (reply && 'counts' in reply) log.info({ counts: reply.counts }, 'a person is forgotten');
	}

	function noteFailure(error: unknown): void {
		log.warn('person_request_failed', { code: codeOf(error), err: error });
	}

	async function serve(socket: Socket): Promise<void> {
		const asked = await text(socket);
		const reply = await db.write((trx) => work(trx, asked));
		note(reply);
		// Whether the files hold nothing of the person any more.
		socket.end(JSON.stringify({ ...reply, isCompact: 'rows' in reply || (await compact()) }));
	}

	function listen(): void {
		const path = resolve(config.DATA_DIR, SOCKET);
		// Of a process that was killed: this one holds the lock of the directory.
		rmSync(path, { force: true });
		server = createServer({ allowHalfOpen: true }, (socket) => {
			socket.on('error', () => undefined);
			const served = serve(socket).catch(noteFailure);
			void served.then(() => socket.destroySoon());
		});
		server.on('error', (error) => log.warn('person_socket_unusable', { err: error }));
		// A path may have about 100 bytes.
		server.listen([path, relative('', path)].toSorted((one, other) => one.length - other.length)[0]);
		if (existsSync(path)) chmodSync(path, 0o600);
	}

	/** The row's lock is the lease: if this process is killed, nothing is done, and another replica takes the letter. */
	const takeLetter = () =>
		db.write(async (trx) => {
			const taken = await takeAsked(trx, cipher, clock.now() - KEPT_MS);
			if (taken === null) return null;
			const { letter, asked } = taken;
			if (Math.abs(clock.now() - SENT.parse(JSON.parse(asked)).at) > KEPT_MS) {
				log.warn('person_request_failed', { code: 'letter_old' });
				await replyTo(trx, letter, null, cipher);
				return null;
			}
			const reply = await work(trx, asked);
			await replyTo(trx, letter, JSON.stringify(reply), cipher);
			return reply;
		});

	/** Takes a letter if there is one. `nextLetter` asks with all that is due. */
	const takeNext = async () => ((await nextLetter(db, clock.now() - KEPT_MS)) === null ? null : takeLetter());

	async function look(): Promise<void> {
		for (let soonUntil = 0; !stopping.signal.aborted; ) {
			// It fails while somebody writes, and is tried again soon.
			const reply = await takeNext().catch((error) => {
				if (codeOf(error) !== 'store_unavailable') noteFailure(error);
			});
			note(reply ?? null);
			if (reply !== null) soonUntil = clock.now() + LOOK.soonForMs;
			const waitMs = clock.now() < soonUntil ? LOOK.soonMs : REST_MS;
			await waker.wait(waitMs, stopping.signal).catch(() => undefined);
		}
	}

	return {
		start(): void {
			if (db.dialect === 'sqlite') listen();
			else {
				db.onLook(waker.wake);
				loop ??= look();
			}
		},
		/** Also removes the socket. */
		async stop(): Promise<void> {
			stopping.abort();
			server?.close();
			await loop;
		},
	};
}
