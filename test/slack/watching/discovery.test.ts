import { expect, it } from 'vitest';
import type { AppOptions } from '../../support/app.ts';
import { expectNothingWrong, watchingApp } from './harness.ts';

const DISCOVERS = { DISCOVER_SESSIONS: 'true' };

const discovering = ({ env, service, ...options }: AppOptions = {}) =>
	watchingApp({ ...options, env: { ...DISCOVERS, ...env }, service: { list: { mode: 'on' }, ...service } });

it('brings a raised hand into the channel as one post, which says who answered', async () => {
	await using app = await discovering();
	expect((await app.command('/session watch all')).text()).toContain('its question comes into this channel');
	const id = app.session({ name: 'Order new chairs' });
	app.ask(id, [{ title: 'Which colour?', description: 'One of: red, green' }]);
	const post = await app.until(() => app.inChannel()[0]);
	expect(post.text()).toContain('Order new chairs');
	expect(post.buttons()).toEqual(expect.arrayContaining(['red', 'green']));
	await post.press('green');
	await app.until(() => post.text().includes('chose'));
	await app.until(() => app.service.sessions.get(id)?.status === 'active' || app.service.log.puts(id).length > 0);
	app.service.sessions.setStatus(id, 'active');
	await app.until(() => post.buttons().length === 0);
	await app.until(async () => true);
	await app.pass(60_000);
	expect(app.inChannel()).toHaveLength(1);
	expect(post.thread()).toEqual([]);
	expect((await app.command('/session list')).text()).toContain('This channel watches no session');
	expectNothingWrong(app);
});
