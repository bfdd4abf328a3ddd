import type { Answerers } from '../../../src/domain/answerers.ts';
import type { Store } from '../../../src/stores.ts';
import { addWatch } from '../../sessions/support.ts';
import { open, submission } from '../../store/support.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import type { Env, Harness } from './harness.ts';

// Databases as Handraise leaves them, of this version or of another one.

/**
 * `shared`: with one watch of the doctor's workspace, and one watch and one answer of another.
 * `moved`: an answer for another address of the service; `both`: and a watch at the present one.
 */
type Change = 'newer' | 'older' | 'none' | 'shared' | 'moved' | 'both';

export async function databaseAt({ dataDir, service }: Harness, change: Change, encryptionKey?: string): Promise<void> {
	const store = await open({ dataDir, encryptionKey });
	await fillStore(store, change, service.url);
	await store.close();
}

async function fillStore(store: Store, change: Change, service: string): Promise<void> {
	const session = { service, sessionId: 's1' };
	if (change === 'shared' || change === 'both') await addWatch(store.watches, { teamId: 'T0ACME', session });
	if (change === 'shared') {
		await addWatch(store.watches, { teamId: 'T0OTHER', session });
		const question = { ...session, messageIndex: 1 };
		await store.answers.accept(submission({ person: { teamId: 'T0OTHER', userId: 'U0EVE' }, question }));
	}
	if (change === 'moved' || change === 'both')
		await store.answers.accept(submission({ person: { teamId: 'T0ACME', userId: 'U0ADA' } }));
	await store.db.write(async (db) => {
		if (change === 'newer') {
			await db.insertInto('migrations').values({ number: 999, name: 'later', appliedAt: 0 }).execute();
		}
		if (change === 'older') {
			await db.deleteFrom('migrations').execute();
			await db.insertInto('migrations').values({ number: 1, name: 'former', appliedAt: 0 }).execute();
		}
	});
}

/** The database of these settings has a list of who may answer in a channel of the doctor's workspace. */
export async function namesAnswerers(
	place: { readonly dataDir: string; readonly databaseUrl?: string; readonly encryptionKey?: string },
	channelId: string,
	answerers: Answerers,
): Promise<void> {
	const store = await open(place);
	const channel = { teamId: 'T0ACME', channelId };
	const { settings: before, revision } = await store.channelSettings.read(channel);
	const settings = { ...before, answerers };
	const content = { kind: 'settingsChanged', by: 'U0ADA', before, after: settings } as const;
	const post = { target: { kind: 'channel', ...channel }, key: `settings:${revision + 1}`, content } as const;
	const person = { teamId: 'T0ACME', userId: 'U0ADA' };
	await store.channelSettings.write(channel, { settings, revision, person, post, now: 0 });
	await store.close();
}

export async function postgresAt(
	dataDir: string,
	encryptionKey: string,
	change: Change,
	service = 'https://service.example',
): Promise<Env> {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const store = await open({ dataDir, databaseUrl, encryptionKey });
	await fillStore(store, change, service);
	await store.close();
	return { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: encryptionKey };
}
