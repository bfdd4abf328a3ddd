import type { Posted } from '../../../fake-slack/index.ts';
import type { AppOptions } from '../../support/app.ts';
import { BEGAN_ALL, ENDED_ALL } from '../../support/sentences.ts';
import { watchingApp } from '../harness.ts';

const COLOURS = [{ title: 'Which colour?', description: 'One of: red, green' }];

/** The whole program, which discovers sessions with the list of the service. */
export async function discoveringApp({ env, service, ...options }: AppOptions & { realRates?: boolean } = {}) {
	const app = await watchingApp({
		...options,
		env: { DISCOVER_SESSIONS: 'true', ...env },
		service: { list: { mode: 'on' }, ...service },
	});

	/** The posts about a session in a channel. */
	const asked = (id: string, channel?: string): Posted[] => {
		const name = app.service.sessions.get(id)?.name;
		const words = name ?? id;
		return app.inChannel(channel).filter((post) => post.text().includes(words));
	};
	/** All posts in the channel but those that tell who began or ended. */
	const raised = () =>
		app.inChannel().filter((post) => ![BEGAN_ALL, ENDED_ALL].some((words) => post.text().includes(words)));
	const postOf = (id: string, channel?: string) => app.until(() => asked(id, channel)[0]);
	const saysInChannel = (words: string, channel?: string) =>
		app.until(() => app.inChannel(channel).find((post) => post.text().includes(words)));
	const listCalls = () => app.service.log.list().filter(({ path }) => path.includes('query')).length;

	async function watchAll(channel?: string): Promise<Posted> {
		return app.command('/session watch all', 'ada', channel);
	}

	/** A session that nobody watches and that waits for a person. */
	function waiting(name = 'Order new chairs'): string {
		const id = app.session({ name });
		app.ask(id, COLOURS);
		return id;
	}

	/** A session that waits after `/session watch all`, and its post. */
	async function raisedHand() {
		await watchAll();
		const id = waiting();
		return { id, post: await postOf(id) };
	}

	/** Somebody answers outside of Handraise, and the agent goes on. */
	function answerElsewhere(id: string, index = 2): void {
		app.service.sessions.answerAsPage(id, ['red'], index);
		app.service.sessions.setStatus(id, 'active');
	}

	return { ...app, asked, raised, postOf, saysInChannel, listCalls, watchAll, waiting, raisedHand, answerElsewhere };
}

export type DiscoveringApp = Awaited<ReturnType<typeof discoveringApp>>;
