import { type Cases, testBroken } from './broken.ts';
import { nobody, omit } from './harness.ts';

const service: Cases = {
	'the key is wrong': {
		env: () => ({ SESSION_SERVICE_API_KEY: 'canary-wrong-key' }),
		says: /^✗ Session service: 127\.0\.0\.1:\d+ refuses the key \(401\): copy it again from the API section/,
	},
	'a web page answers': {
		breaks: (harness) => harness.service.faults.add({ kind: 'html', status: 200 }),
		says: /^✗ Session service: .* answers with a web page \(200\): SESSION_SERVICE_URL must be the API's base address/,
	},
	'the address has /v1 in the middle': {
		env: (harness) => ({ SESSION_SERVICE_URL: `${harness.service.url}/v1/sessions` }),
		says: /^✗ Session service: .* answers with a web page \(404\): SESSION_SERVICE_URL has \/v1 in it, which Handraise adds/,
	},
	'the address ends in /v1': {
		env: (harness) => ({ SESSION_SERVICE_URL: `${harness.service.url}/v1/` }),
		says: /^✗ Settings: SESSION_SERVICE_URL ends in \/v1: remove it/,
	},
	'the address redirects to another host': {
		breaks: (harness) => {
			const location = `https://login.example.com/?key=${harness.secrets.apiKey}`;
			harness.service.faults.add({ kind: 'redirect', location, status: 302 });
		},
		says: /^✗ Session service: .* redirects to https:\/\/login\.example\.com \(302\)/,
	},
	'the service wants https': {
		breaks: (harness) => {
			const location = `${harness.service.url.replace('http', 'https')}/v1/sessions/handraise-doctor`;
			harness.service.faults.add({ kind: 'redirect', location, status: 301 });
		},
		says: /^✗ Session service: .* wants https \(301\): write https:\/\/ in SESSION_SERVICE_URL/,
	},
	'something in between drops the key': {
		env: ({ serviceBehind }) => serviceBehind({ forwards: (headers) => omit(headers, 'x-api-key') }),
		says: /^✗ Session service: .* redirects to its front page \(302\), as it does without a key: .*x-api-key/,
	},
	'the service does not answer in time': {
		breaks: (harness) => harness.service.faults.add({ kind: 'hang' }),
		env: () => ({ SESSION_SERVICE_TIMEOUT_MS: '300' }),
		says: /^✗ Session service: .* does not answer: nothing came within 0\.3 s/,
	},
	'the service is down': {
		env: async () => ({ SESSION_SERVICE_URL: await nobody() }),
		says: /^✗ Session service: .* does not answer: nothing listens at that host and port/,
	},
	'the service’s host is misspelt': {
		env: () => ({ SESSION_SERVICE_URL: 'https://no-such-host.invalid' }),
		says: /^✗ Session service: no-such-host\.invalid does not answer: .*DNS/,
	},
	'the service speaks no TLS': {
		env: (harness) => ({ SESSION_SERVICE_URL: harness.service.url.replace('http:', 'https:') }),
		says: /^✗ Session service: .* does not answer: it does not speak TLS/,
	},
	'the connection is cut': {
		breaks: (harness) => harness.service.faults.add({ kind: 'reset' }),
		says: /^✗ Session service: .* does not answer: the connection was cut/,
	},
	'the service responds with 500': {
		breaks: (harness) => harness.service.faults.add({ kind: 'error', status: 500, body: '{"error":"no"}' }),
		says: /^✗ Session service: .* is in trouble \(500\)/,
	},
	'the rate limit is reached': {
		breaks: (harness) => harness.service.faults.add({ kind: 'rate-limited', retryAfterSeconds: 28 }),
		says: /^✗ Session service: .* used up its requests \(429\).*try again in 28 s/,
	},
	'another service answers': {
		breaks: (harness) => harness.service.faults.add({ kind: 'foreign-json' }),
		says: /^✗ Session service: .* does not answer as a session service does \(200\)/,
	},
	'another service says "not found"': {
		breaks: (harness) => harness.service.faults.add({ kind: 'error', status: 404, body: '{"detail":"Not Found"}' }),
		says: /^! Session service: .* says "not found" in other words than a session service does/,
	},
	'the service lists sessions': {
		breaks: ({ service: { list, sessions } }) => {
			list.mode = 'on';
			for (const id of ['a', 'b']) sessions.put(id, { status: 'humanInput' });
		},
		says: /^✓ Session list: the service lists the sessions that wait, so questions of watched ones are seen/,
	},
	'the service has no list, and allows less than the setting': {
		env: () => ({ SESSION_SERVICE_RPM: '300' }),
		says: [
			/^✓ Session list: the service has none that can be used \(404\)/,
			/^! Rate limit: the session service allows 250 requests a minute, SESSION_SERVICE_RPM is 300: set it to 250 or less/,
		],
	},
	'the service has a session called "query"': {
		breaks: ({ service: { sessions } }) => sessions.put('query', { status: 'humanInput' }),
		says: /^✓ Session list: the service has none that can be used \(200\)/,
	},
	'the list fails': {
		breaks: ({ service: { list, faults } }) => {
			list.mode = 'on';
			faults.add({ kind: 'error', onlyLists: true });
		},
		says: /^! Session list: the service could not say whether it has one \(500\)/,
	},
	'the service allows more than the setting, and another setting is none any more': {
		env: () => ({ THREAD_REPLIES: 'on', SESSION_SERVICE_RPM: '100' }),
		says: [
			/^! Settings: THREAD_REPLIES is no setting any more: whoever mentions Handraise .*\. Remove it\.$/,
			/^! Rate limit: .* allows 250 requests a minute, SESSION_SERVICE_RPM is 100: .*raise it/,
		],
	},
	'people want all sessions, and the service has no list': {
		env: () => ({ DISCOVER_SESSIONS: 'true' }),
		says: /^✗ Session list: the service has none that can be used \(404\)\. DISCOVER_SESSIONS needs one/,
	},
	'people see all sessions, some with very many files': {
		env: () => ({ DISCOVER_SESSIONS: 'true' }),
		breaks({ service: { list, sessions } }) {
			list.mode = 'on';
			list.bytesEach = 3_000_000;
			for (const id of ['a', 'b']) sessions.put(id, { status: 'humanInput' });
		},
		says: /^✓ Session list: the service lists the sessions that wait.* Everybody who may use Handraise sees all of them/,
	},
	'the service does not state its limit': {
		env: ({ serviceBehind }) => serviceBehind({ headers: (headers) => omit(headers, 'ratelimit-limit') }),
		says: /^! Rate limit: the session service does not state its limit/,
	},
};

testBroken('session service', service);
