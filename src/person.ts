import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { needSettings } from './config.ts';
import { systemClock as clock } from './kernel/clock.ts';
import { createLog } from './kernel/log.ts';
import {
	type CommandIo,
	command,
	invalid,
	nameOf,
	print,
	runCommand,
	stoppedBy,
	whoRunsIt,
} from './operator/command.ts';
import { type Ask, type Forgotten, type Page, SOCKET } from './operator/person-requests.ts';
import { isUserId } from './slack/phrases.ts';
import { readKeys } from './store/encryption.ts';
import { openCipher } from './store/keys.ts';
import { needSchema } from './store/migrate.ts';
import { PERSON_TABLES } from './store/person-ids.ts';
import { openPostgres } from './store/postgres.ts';
import { createLetters } from './store/shared-states.ts';

const USAGE = `Usage: npm run person --silent -- export <slack id>  prints what is stored about somebody, as JSON
       npm run person -- forget <slack id>           forgets them, after the id was typed again
       npm run person -- forget <slack id> --yes <slack id>
       npm run settings -- clear <channel id>        lets everybody answer again what the channel watches`;
/** How long a running replica may take to answer a request, in ms. Each looks for requests once a second. */
const WAIT_MS = 15_000;

type AskFor = (ask: Ask) => Promise<unknown>;

const refusal = (words: string) => invalid(words, 'refused');

async function run([act, userId = '', flag, given = '', ...others]: readonly string[], io: CommandIo): Promise<string> {
	if (act === 'clear' && flag === undefined) return clearList(userId, io);
	const isForget = act === 'forget' && (flag === undefined || (flag === '--yes' && given !== ''));
	if (others.length > 0 || !(isForget || (act === 'export' && flag === undefined))) throw invalid(USAGE, 'usage');
	if (!isUserId(userId))
		throw invalid('That is no Slack user id, such as U012ABCDEF: profiles in Slack have it.', 'usage');
	if (!isForget) return asking(io, (ask) => exportPerson(ask, userId, io));
	const line = flag === undefined ? await typedAgain(userId, io) : given;
	if (line.trim() !== userId) throw refusal('That is not the same id. Nothing changed.');
	const reply = await asking(io, (ask) => ask({ act: 'forget', userId }));
	return wordsOf(reply as Forgotten & { isCompact?: boolean }, userId);
}

async function typedAgain(userId: string, { stdin, stderr }: CommandIo): Promise<string> {
	stderr.write(`This cannot be undone. Type ${userId} again to forget them: `);
	const input = createInterface({ input: stdin });
	const [line = ''] = await Promise.race([once(input, 'line'), once(input, 'close')]);
	input.close();
	return line;
}

async function clearList(channelId: string, io: CommandIo): Promise<string> {
	if (!/^[CG][A-Z0-9]{2,30}$/.test(channelId))
		throw invalid('That is no channel id, such as C012ABCDEF: the end of "About" in a channel has it.', 'usage');
	const { kind } = (await asking(io, (ask) => ask({ act: 'clear', channelId }))) as { readonly kind: string };
	return kind === 'cleared'
		? `${channelId} names nobody any more: all who may use Handraise may answer there. The channel is told.`
		: `${channelId} names nobody as those who may answer. Nothing changed.`;
}

/** Lets `work` ask the running program: over its socket, or by rows of PostgreSQL. */
async function asking<T>(io: CommandIo, work: (ask: AskFor) => Promise<T>): Promise<T> {
	const settings = needSettings(io.env, /^(?:DATA_DIR|DATABASE_|PGSSLMODE|ENCRYPTION_KEY)/);
	const by = whoRunsIt(io.env);
	const directory = resolve(settings.DATA_DIR);
	if (settings.DATABASE_URL === null) return work((ask) => overSocket(directory, { ...ask, by }));
	const db = openPostgres(settings.DATABASE_URL, createLog('silent'));
	try {
		await needSchema(db.read);
		const keys = readKeys(settings.ENCRYPTION_KEY ?? '', settings.ENCRYPTION_KEY_FORMER);
		const cipher = await openCipher(db, keys);
		const stopped = stoppedBy(io, 'SIGINT', 'SIGTERM');
		const letters = () => createLetters(db, cipher, crypto.randomUUID());
		return await work((ask) => overRows(letters(), { ...ask, by }, stopped));
	} finally {
		await db.close();
	}
}

/** Asks the program that has opened the database in this directory (an absolute path). */
async function overSocket(directory: string, asked: Ask): Promise<unknown> {
	try {
		const socket = connectIn(directory);
		socket.end(JSON.stringify(asked));
		return JSON.parse(await text(socket));
	} catch (error) {
		const { code = '' } = error as NodeJS.ErrnoException;
		const absent =
			`No Handraise can be asked in ${directory} (${code}): none runs there, it runs as another user, or its log ` +
			'has person_socket_unusable.';
		const isAbsent = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'EACCES'].includes(code);
		throw refusal(isAbsent ? `${absent} ${UNASKED}` : ENDED);
	}
}

/** Connects from inside the directory, because the path of a socket may only have about 100 bytes. */
function connectIn(directory: string): Socket {
	const before = process.cwd();
	process.chdir(directory);
	const socket = connect(SOCKET);
	process.chdir(before);
	return socket;
}

/** Asks a program on the same PostgreSQL, from any machine. */
async function overRows(letters: ReturnType<typeof createLetters>, asked: Ask, stopped: AbortSignal): Promise<unknown> {
	const at = clock.now();
	await letters.ask(JSON.stringify({ ...asked, at }), at);
	for (const until = clock.now() + WAIT_MS; ; await clock.sleep(50)) {
		const reply = await letters.takeReply();
		if (reply === null) throw refusal(UNREADABLE);
		if (reply !== undefined) return JSON.parse(reply);
		const isOver = stopped.aborted || clock.now() > until;
		if (isOver && (await letters.takeBack())) throw refusal(stopped.aborted ? TAKEN_BACK : NOT_TAKEN);
		// The request could not be taken back: a program works on it, or has removed it as too old.
		if (clock.now() > until + 2 * WAIT_MS) throw refusal(ENDED);
	}
}

async function exportPerson(ask: AskFor, userId: string, { stderr }: CommandIo): Promise<string> {
	const say = (words: string) => stderr.write(`${words}\n`);
	const exported: Record<string, unknown> = { person: userId, exportedAt: new Date().toISOString() };
	for (const table of PERSON_TABLES) {
		const all: unknown[] = [];
		for (let after: string | null = ''; after !== null; ) {
			const { rows, next } = (await ask({ act: 'page', userId, place: { table, after } })) as Page;
			all.push(...rows);
			after = next;
		}
		if (all.length === 0) continue;
		exported[table] = all;
		say(`${table}: ${all.length}`);
	}
	if (Object.keys(exported).length === 2) say(`Nothing is stored about ${userId}.`);
	return JSON.stringify(exported, null, 2);
}

function wordsOf(reply: Forgotten & { readonly isCompact?: boolean }, userId: string): string {
	const nothing = `Nothing is stored about ${userId}.`;
	if (reply.kind === 'nothing') return reply.isCompact === false ? `${nothing} ${NOT_COMPACT}` : nothing;
	if (reply.kind === 'refused') {
		const why = `an answer of ${userId} is being sent, or can still be undone (session ${reply.sessionIds.join(', ')})`;
		throw refusal(`Nothing changed: ${why}. Try again when it was delivered or undone.`);
	}
	if (reply.kind === 'unreadable') {
		const why = `${reply.count} answers that may name ${userId} cannot be read`;
		throw refusal(
			`Nothing changed: ${why}. Does Handraise have the right key? It removes what is damaged after RETENTION_DAYS.`,
		);
	}
	const { name, counts, left, days, isCompact } = reply;
	return [
		`${userId} is forgotten. ${name} stands where the id stood.`,
		...Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : `  ${what}: ${count}`)),
		`Posts in Slack from more than ${days} days ago are not stored any more and may still name ` +
			`them${left.length === 0 ? '.' : ', also those about these answers (session, time, channel, thread):'}`,
		...left.map((answer) => `  ${answer}`),
		isCompact === undefined ? DEAD_ROWS : isCompact ? COMPACT : NOT_COMPACT,
		'Not covered: what others typed, other messages in Slack, the session service, logs, exports, and backups, ' +
			'also those of a restore beside the database.',
	].join('\n');
}

const UNASKED = 'Nothing changed: start Handraise, or run this as its user and with its DATA_DIR.';
const ENDED = 'Handraise ended or failed, as its log says: all is done or nothing. Run this again to see.';
const NOT_TAKEN =
	`No running Handraise did it within ${WAIT_MS / 1_000} s: the request is taken back, and nothing changed. Either ` +
	'none runs on this database with this ENCRYPTION_KEY, or VACUUM works or much is written: then try again.';
const DEAD_ROWS = 'PostgreSQL keeps the id in dead rows until VACUUM, and in its log.';
const UNREADABLE =
	'Handraise replied, but with another key: set ENCRYPTION_KEY as it has it. All is done or nothing: run this again ' +
	'to see.';
const TAKEN_BACK = 'The request is taken back: nothing changed.';
const COMPACT = 'The files of the database hold the id nowhere any more.';
const NOT_COMPACT =
	'The files of the database still hold the id: another program reads the database, or the disk is full. ' +
	'Handraise tries again.';

export const main = command(async (argv, io) => {
	const words = await run(argv, io);
	await print(io.stdout, `${words}\n`).catch(({ code }: NodeJS.ErrnoException) => {
		// The reader may have closed the pipe.
		if (code !== 'EPIPE') throw refusal(`All is done, but the output could not be written (${code}).`);
	});
	return 0;
}, nameOf);

await runCommand(import.meta, main);
