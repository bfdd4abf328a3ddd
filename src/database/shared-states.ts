// Owns `shared_states` and `meta`, with other files of this folder: letters between `npm run person` and the program.
import { randomBytes } from 'node:crypto';
import { add, addNew, type Cipher, change, type Db, from, type Row, remove, type StoreDatabase } from './database.ts';

/** How the names of rows begin that hold a request or its reply, encrypted under their names alone. */
const LETTERS = { ask: 'person:ask:', reply: 'person:reply:' } as const;
const letterPlace = (id: string) => ({ table: 'meta', id, column: 'value' }) as const;

/** Letters of one request. The program replies in the row of the request. */
export function createLetters(db: StoreDatabase, cipher: Cipher, id: string) {
	const [name, replied] = [`${LETTERS.ask}${id}`, `${LETTERS.reply}${id}`];

	/** What a letter holds, which is removed, unless somebody works on it. */
	const taken = (name: string) =>
		db.writeOne(async (trx) => {
			const free = from(trx, 'shared_states', { name }).select('name').forUpdate().skipLocked();
			return (await remove(trx, 'shared_states', { name: free }).returning('state').executeTakeFirst())?.state;
		});

	return {
		ask(text: string, changedAt: number) {
			const state = cipher.encrypt(text, letterPlace(name));
			return db.writeOne((trx) => add(trx, 'shared_states', { name, state, changedAt }).execute());
		},
		/** Undefined: there is none yet. Null: it cannot be read. */
		async takeReply() {
			const reply = await taken(replied);
			return reply && cipher.decrypt(reply, letterPlace(replied));
		},
		/** False: somebody works on it, or it is gone. */
		takeBack: async () => (await taken(name)) !== undefined,
	};
}

/** Locks the newest request: another key's is in nobody's way. Removes letters before `before`: nobody awaits them. */
export async function takeAsked(trx: Db, cipher: Cipher, before: number) {
	const old = remove(trx, 'shared_states').where('changedAt', '<', before);
	// Rates of people in their inboxes are over by then, too, and hold their ids.
	await old.where((eb) => eb('name', 'like', 'person:%').or('name', 'like', 'rate:inbox-%')).execute();
	const asks = from(trx, 'shared_states').where('name', 'like', `${LETTERS.ask}%`).selectAll();
	const newest = asks.orderBy('changedAt', 'desc').limit(1);
	const letter = await newest.forUpdate().skipLocked().executeTakeFirst();
	const asked = letter && cipher.decrypt(letter.state, letterPlace(letter.name));
	return letter === undefined || asked == null ? null : { letter, asked };
}

/** Puts the reply in place of a request. Null: it has none. */
export function replyTo(trx: Db, { name }: Row<'shared_states'>, reply: string | null, cipher: Cipher) {
	if (reply === null) return remove(trx, 'shared_states', { name }).execute();
	const replied = name.replace(LETTERS.ask, LETTERS.reply);
	const state = cipher.encrypt(reply, letterPlace(replied));
	return change(trx, 'shared_states', { name }, { name: replied, state }).execute();
}

/** Removes what nobody has changed since `before`. */
export const removeOldStates = (db: StoreDatabase, before: number) =>
	db.writeOne((trx) => remove(trx, 'shared_states').where('changedAt', '<', before).execute());

const NAME_SALT = { name: 'name_salt' };

/** The salt of people's names in access lines, made when it is first asked for. */
export async function nameSalt(trx: Db): Promise<string> {
	await addNew(trx, 'meta', { ...NAME_SALT, value: randomBytes(16).toString('hex') }).execute();
	return (await from(trx, 'meta', NAME_SALT).select('value').executeTakeFirstOrThrow()).value;
}

/** With another salt the names in lines so far mean nobody. */
export const removeNameSalt = (trx: Db) => remove(trx, 'meta', NAME_SALT).execute();
