import { Agent, type Dispatcher, request } from 'undici';
import {
	createFakeSessionService,
	type FakeSessionService,
	type FakeSessionServiceOptions,
} from './fake-session-service.ts';
import type { SessionJson } from './json.ts';

interface Reply {
	readonly status: number;
	readonly headers: Dispatcher.ResponseData['headers'];
	readonly text: string;
	// biome-ignore lint/suspicious/noExplicitAny: what came over the wire, looked into by the tests
	readonly json: any;
}

export interface TestClient extends AsyncDisposable {
	readonly service: FakeSessionService;
	send(method: string, path: string, options?: { headers?: Record<string, string>; body?: string }): Promise<Reply>;
	read(id: string, headers?: Record<string, string>): Promise<Reply>;
	session(id: string): Promise<SessionJson>;
	/** Sends every item of the message as stored, with these values. */
	answer(id: string, messageIndex: number, values: readonly string[]): Promise<Reply>;
	put(id: string, body: unknown): Promise<Reply>;
}

/** A started service, and a bare HTTP client with its key. Disposing stops both. */
export async function startForTest(options: FakeSessionServiceOptions = {}): Promise<TestClient> {
	const service = createFakeSessionService(options);
	await service.start();
	const dispatcher = new Agent({ connections: 4 });
	const key = { 'x-api-key': service.apiKey };

	const send: TestClient['send'] = async (method, path, { headers = {}, body } = {}) => {
		const response = await request(path.startsWith('http') ? path : service.url + path, {
			method: method as Dispatcher.HttpMethod,
			headers,
			body: body ?? null,
			dispatcher,
		});
		const text = await response.body.text();
		let json: unknown = null;
		try {
			json = JSON.parse(text);
		} catch {
			// Not every response is JSON; `text` has it.
		}
		return { status: response.statusCode, headers: response.headers, text, json };
	};
	const put: TestClient['put'] = (id, body) =>
		send('PUT', `/v1/sessions/${id}/update-human-input`, {
			headers: { ...key, 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
	const read: TestClient['read'] = (id, headers = {}) =>
		send('GET', `/v1/sessions/${id}`, { headers: { ...key, ...headers } });

	return {
		service,
		send,
		read,
		put,
		session: async (id) => (await read(id)).json.session,
		answer(id, messageIndex, values) {
			const items = service.sessions.get(id).messages?.[messageIndex]?.human_input ?? [];
			return put(id, {
				sessionId: id,
				messageIndex,
				humanInputResponse: items.map((item, position) => ({
					title: item.title ?? '',
					description: item.description ?? '',
					value: values[position] ?? '',
				})),
			});
		},
		async [Symbol.asyncDispose]() {
			await service.stop();
			await dispatcher.destroy();
		},
	};
}
